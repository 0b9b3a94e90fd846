// Archives made by zip(1), and such as nobody should make, put together by libzip.
#include "app/addon_archive.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <zip.h>

#include <filesystem>

#include "app/addon_files.hpp"
#include "app/addon_import.hpp"
#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Entry {
    std::string name;
    std::string text;
    mode_t mode = S_IFREG | 0644;
    const char* password = nullptr;
};

class AddonArchive : public testing::Test {
  protected:
    std::string made_of(const std::vector<Entry>& entries) {
        const std::string path = folder_.file("made.zip");
        std::filesystem::remove(path);
        zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
        for (const Entry& entry : entries) {
            zip_source_t* source =
                zip_source_buffer(archive, entry.text.data(), entry.text.size(), 0);
            const auto index = static_cast<zip_uint64_t>(
                zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8));
            zip_file_set_external_attributes(archive, index, 0, ZIP_OPSYS_UNIX,
                                             static_cast<zip_uint32_t>(entry.mode) << 16U);
            if (entry.password != nullptr) {
                zip_file_set_encryption(archive, index, ZIP_EM_AES_256, entry.password);
            }
        }
        EXPECT_EQ(zip_close(archive), 0) << zip_strerror(archive);
        return read_text_file(path, kMaxArchiveBytes).value();
    }
    std::string refused(std::string_view bytes) {
        const auto found = read_archive(bytes, "a.zip");
        EXPECT_FALSE(found);
        if (found) return "";
        EXPECT_EQ(found.error().code, "addon.archive");
        return found.error().message;
    }

    net::test::TempDir folder_;
};

TEST_F(AddonArchive, OneOfZipIsImported) {
    const std::string manifest = read_text_file("tests/imported/axis.json", 1U << 20U).value();
    folder_.write("axis/manifest.json", manifest);
    folder_.write("axis/poll.py", "print('code')");
    net::test::Process zip(
        {"sh", "-c", "cd \"$1\" && zip -q -r axis.zip axis", "sh", folder_.path()}, folder_);
    ASSERT_TRUE(zip.wait_for_end());
    ASSERT_EQ(zip.exit_code(), 0) << zip.output();
    const std::string path = folder_.file("axis.zip");
    const std::string bytes = read_text_file(path, kMaxArchiveBytes).value();
    ASSERT_TRUE(is_archive(bytes));
    const auto found = read_archive(bytes, "axis.zip");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->text, manifest);
    EXPECT_EQ(found->name, "axis.zip/axis/manifest.json");
    EXPECT_THAT(found->beside, ElementsAre("axis/poll.py"));

    testing::internal::CaptureStdout();
    EXPECT_EQ(run_import(path, folder_.file("mine"), false), 0);
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_THAT(printed, HasSubstr("axis/poll.py is not taken over"));
    EXPECT_THAT(printed, HasSubstr("axis can be imported"));
    EXPECT_TRUE(std::filesystem::exists(folder_.file("mine/axis/manifest.yaml")));
}

TEST_F(AddonArchive, TheManifestAtTheTopIsMeant) {
    const auto found = read_archive(made_of({{"old/manifest.json", "old"},
                                             {"manifest.json", "new"},
                                             {"__MACOSX/._manifest.json", "fork"}}),
                                    "a.zip");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->text, "new");
    EXPECT_THAT(found->beside, IsEmpty());
    EXPECT_THAT(refused(made_of({{"a/manifest.json", "1"}, {"b/manifest.json", "2"}})),
                HasSubstr("holds 2 manifests"));
    EXPECT_THAT(refused(made_of({{"a/b/manifest.json", "1"}})), HasSubstr("no manifest.json"));
    EXPECT_THAT(refused(made_of({{"readme", "1"}})), HasSubstr("no manifest.json"));
}

TEST_F(AddonArchive, NamesThatLeadOutAreRefused) {
    for (const char* name : {"../manifest.json", "/manifest.json", "a/../../manifest.json",
                             "..\\manifest.json", "C:/manifest.json", "a/.."}) {
        EXPECT_THAT(refused(made_of({{"manifest.json", "{}"}, {name, "x"}})),
                    HasSubstr("leads out of the archive"))
            << name;
    }
    EXPECT_TRUE(read_archive(made_of({{"manifest.json", "{}"}, {"a..b/..c", "x"}}), "a.zip"));
}

TEST_F(AddonArchive, LinksAndEncryptedFilesAreRefused) {
    EXPECT_THAT(refused(made_of({{"manifest.json", "/etc/passwd", S_IFLNK | 0777}})),
                HasSubstr("is a link"));
    EXPECT_THAT(refused(made_of({{"manifest.json", "{}", S_IFREG | 0644, "secret"}})),
                HasSubstr("is encrypted"));
}

TEST_F(AddonArchive, ABombIsBounded) {
    // 64 MB in 64 KB.
    const std::string bomb = made_of({{"manifest.json", std::string(64U << 20U, ' ')}});
    EXPECT_LT(bomb.size(), 1U << 20U);
    EXPECT_THAT(refused(bomb), HasSubstr("is larger than"));
    std::vector<Entry> many(kMaxArchiveFiles + 1);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].name = std::to_string(i);
    EXPECT_THAT(refused(made_of(many)), HasSubstr("at most 1000"));
}

TEST_F(AddonArchive, DamageIsFound) {
    const std::string good = made_of({{"manifest.json", "{\"id\": \"a name that can be seen\"}"}});
    for (const std::size_t size : {std::size_t{4}, good.size() / 2, good.size() - 1}) {
        EXPECT_THAT(refused(good.substr(0, size)), HasSubstr("a.zip"));
    }
    // Every bit flipped in turn: never a crash, and never another text.
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string changed = good;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        const auto found = read_archive(changed, "a.zip");
        if (found) {
            EXPECT_THAT(found->text, HasSubstr("a name that can be seen")) << at;
        }
    }
    EXPECT_FALSE(is_archive("{\"id\": 1}"));
}

}  // namespace
}  // namespace pollux::app
