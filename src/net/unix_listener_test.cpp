#include "net/unix_listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "net/http_server.hpp"

namespace pollux::net {
namespace {

class UnixListenerTest : public testing::Test {
  protected:
    UnixListenerTest() {
        std::string pattern = "/tmp/pollux-unix-XXXXXX";
        folder = mkdtemp(pattern.data());
    }
    ~UnixListenerTest() override { rmdir(folder.c_str()); }

    std::string folder;
    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
};

TEST_F(UnixListenerTest, ServesHttpToTheOwnerOnly) {
    HttpServer server(*loop, {}, [](Request request, Responder responder) {
        responder.send(
            Response::text(200, request.method + " " + request.target + " " + request.body));
    });
    auto listener = UnixListener::listen(*loop, folder + "/s",
                                         [&](auto stream) { server.adopt(std::move(stream)); });
    ASSERT_TRUE(listener) << listener.error().message;
    struct stat facts{};
    ASSERT_EQ(stat((*listener)->path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);

    base::Result<UnixAnswer> get;
    base::Result<UnixAnswer> post;
    std::thread client([&] {
        const auto ten = std::chrono::seconds(10);
        get = ask_unix(folder + "/s", "GET", "/a?b=c", "", ten);
        post = ask_unix(folder + "/s", "POST", "/p", std::string(300'000, 'x'), ten);
        loop->stop();
    });
    loop->run();
    client.join();
    ASSERT_TRUE(get);
    EXPECT_EQ(get->status, 200);
    EXPECT_EQ(get->body, "GET /a?b=c ");
    ASSERT_TRUE(post);
    EXPECT_EQ(post->body.size(), 300'000U + 8U);
    listener->reset();
    EXPECT_NE(access((folder + "/s").c_str(), F_OK), 0) << "left behind";
}

TEST_F(UnixListenerTest, ReplacesWhatADeadProcessLeft) {
    {
        [[maybe_unused]] const auto first = UnixListener::listen(*loop, folder + "/s", [](auto) {});
    }
    FILE* left = fopen((folder + "/s").c_str(), "w");
    ASSERT_NE(left, nullptr);
    fclose(left);
    EXPECT_TRUE(UnixListener::listen(*loop, folder + "/s", [](auto) {}));
}

TEST_F(UnixListenerTest, SaysWhatIsWrongWithAPath) {
    const auto too_long = UnixListener::listen(*loop, "/" + std::string(200, 'x'), [](auto) {});
    ASSERT_FALSE(too_long);
    EXPECT_THAT(too_long.error().message, testing::HasSubstr("at most 107"));
    const auto nowhere = UnixListener::listen(*loop, folder + "/no/s", [](auto) {});
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().message, testing::HasSubstr("No such file"));
    const auto nobody = ask_unix(folder + "/s", "GET", "/", "", std::chrono::seconds(1));
    ASSERT_FALSE(nobody);
    EXPECT_THAT(nobody.error().message, testing::HasSubstr(folder));
}

}  // namespace
}  // namespace pollux::net
