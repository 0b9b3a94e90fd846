// The tls-certificate addon on real certificates: what it says as they grow old, and when they are
// replaced. The certificates are real, the time at which their answers are read is the test's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "derive/signal_keeper.hpp"
#include "extract/shipped_addons.hpp"
#include "net/test_process.hpp"
#include "protocol/test_bench.hpp"
#include "protocol/tls/tls_driver.hpp"
#include "runtime/poll_reading.hpp"

namespace pollux::runtime {
namespace {

using net::test::Process;
using net::test::run_tool;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr base::Duration kDay = 24h;

std::shared_ptr<const extract::CompiledAddon> shipped(std::string_view name) {
    const auto addons = extract::shipped_addons();
    const auto found = std::ranges::find(addons, name, &extract::ShippedAddon::name);
    if (found == addons.end()) return nullptr;
    return extract::compile(found->manifest, std::string(found->file)).addon;
}

class CertificateLive : public ::testing::Test {
  protected:
    CertificateLive() {
        plan_.key = "tls-certificate::www";
        plan_.addon = shipped("tls-certificate");
        run_tool({"openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out",
                  folder_.file("key.pem")},
                 folder_);
    }

    // A self-signed one, valid from now.
    std::string make(const std::string& name, int days) {
        run_tool({"openssl", "req", "-x509", "-new", "-key", folder_.file("key.pem"), "-out",
                  folder_.file(name), "-days", std::to_string(days), "-subj", "/CN=www"},
                 folder_);
        return folder_.file(name);
    }

    // One that was valid in a spring long ago; only `openssl ca` takes dates.
    std::string make_expired() {
        folder_.write("index.txt", "");
        folder_.write("ca.conf", fmt::format("[ca]\ndefault_ca = own\n[own]\ndatabase = {}\n"
                                             "new_certs_dir = {}\nrand_serial = yes\n"
                                             "default_md = sha256\npolicy = any\n[any]\n"
                                             "commonName = supplied\n",
                                             folder_.file("index.txt"), folder_.path()));
        run_tool({"openssl", "req", "-new", "-key", folder_.file("key.pem"), "-out",
                  folder_.file("old.csr"), "-subj", "/CN=www"},
                 folder_);
        run_tool({"openssl", "ca", "-batch", "-notext", "-selfsign", "-config",
                  folder_.file("ca.conf"), "-keyfile", folder_.file("key.pem"), "-in",
                  folder_.file("old.csr"), "-out", folder_.file("old.pem"), "-startdate",
                  "20200101000000Z", "-enddate", "20200331000000Z"},
                 folder_);
        return folder_.file("old.pem");
    }

    model::Reply ask(const std::string& certificate) {
        const std::uint16_t port = net::test::free_port();
        Process server(
            {"openssl", "s_server", "-quiet", "-accept", fmt::format("127.0.0.1:{}", port), "-cert",
             certificate, "-key", folder_.file("key.pem")},
            folder_);
        EXPECT_TRUE(server.wait_for_tcp("127.0.0.1", port));
        extract::TargetBinding binding;
        binding.host = "127.0.0.1";
        binding.port = port;
        const auto asks = plan_.addon->asks(0, binding);
        return bench_.ask(driver_, *asks.value().front());
    }

    // What people are told when the answer is read so long after now. Of the chain we know enough.
    std::vector<std::string> read(const model::Reply& reply, base::Duration later) {
        const base::Instant start = net::instant_now();
        const base::Instant now{start.boot + later, start.wall + later};
        reading_ = read_poll(plan_, std::vector{reply}, memory_, now);
        EXPECT_TRUE(model::is_success(reading_.outcome)) << reading_.failure.message;
        model::PollSignals signals;
        add_conditions(plan_, reading_, memory_, signals);
        std::vector<std::string> out;
        for (const derive::SignalChange& change : keeper_.apply(signals, now.wall)) {
            if (change.signal.type.ends_with("_bad")) continue;
            const char sign = change.step == derive::SignalStep::kRaised    ? '+'
                              : change.step == derive::SignalStep::kUpdated ? '~'
                                                                            : '-';
            out.push_back(fmt::format("{}{} {}", sign, change.signal.type, change.signal.severity));
            messages_ += change.signal.message + "\n";
        }
        return out;
    }

    net::test::TempDir folder_;
    protocol::test::Bench bench_;
    std::unique_ptr<net::Resolver> resolver_ = std::move(*net::Resolver::create(bench_.loop(), {}));
    protocol::TlsDriver driver_{bench_.loop(), *resolver_,
                                std::make_shared<const net::EgressPolicy>()};
    PollPlan plan_;
    derive::TargetMemory memory_;
    derive::SignalKeeper keeper_;
    PollReading reading_;
    std::string messages_;
};

TEST_F(CertificateLive, OfNinetyDaysIsToldWeeksBefore) {
    const model::Reply reply = ask(make("ninety.pem", 90));
    EXPECT_THAT(read(reply, 0s), IsEmpty());
    EXPECT_THAT(read(reply, 60 * kDay), IsEmpty()) << "a third is left";
    EXPECT_THAT(read(reply, 70 * kDay), ElementsAre("+certificate_ends warning"));
    EXPECT_THAT(messages_, HasSubstr("reserve is 22.2222 %, below 25 %; days_left is 20 days"));
    EXPECT_THAT(read(reply, 82 * kDay), ElementsAre("~certificate_ends critical"));
    EXPECT_THAT(read(reply, 91 * kDay),
                UnorderedElementsAre("+certificate_ended critical", "~certificate_ends critical"));
}

TEST_F(CertificateLive, OfOneDayIsToldHoursBefore) {
    const model::Reply reply = ask(make("day.pem", 1));
    EXPECT_THAT(read(reply, 0s), IsEmpty()) << "a day is all it ever had";
    EXPECT_THAT(read(reply, 17h), IsEmpty());
    EXPECT_THAT(read(reply, 19h), ElementsAre("+certificate_ends warning"));
    EXPECT_THAT(read(reply, 22h), ElementsAre("~certificate_ends critical"));
}

TEST_F(CertificateLive, OfTenYearsIsToldAMonthBefore) {
    const model::Reply reply = ask(make("long.pem", 3650));
    EXPECT_THAT(read(reply, 3600 * kDay), IsEmpty()) << "50 days";
    EXPECT_THAT(read(reply, 3625 * kDay), ElementsAre("+certificate_ends warning"));
    EXPECT_THAT(read(reply, 3640 * kDay), ElementsAre("~certificate_ends critical"));
}

TEST_F(CertificateLive, ThatHasEndedIsCritical) {
    const model::Reply reply = ask(make_expired());
    EXPECT_THAT(read(reply, 0s),
                UnorderedElementsAre("+certificate_ended critical", "+certificate_ends critical"));
}

TEST_F(CertificateLive, ThatIsReplacedEndsTheAlertWithThatReason) {
    const model::Reply first = ask(make("first.pem", 2));
    const model::Reply second = ask(make("second.pem", 90));
    EXPECT_THAT(read(first, 0s), IsEmpty());
    EXPECT_THAT(read(first, 40h), ElementsAre("+certificate_ends warning"));
    messages_.clear();
    EXPECT_THAT(read(second, 41h),
                UnorderedElementsAre("-certificate_ends warning", "+certificate_renewed info"));
    EXPECT_THAT(messages_, HasSubstr("; The certificate was replaced"));
    EXPECT_THAT(messages_, HasSubstr("fingerprint changed to "));
    EXPECT_THAT(read(second, 42h), ElementsAre("-certificate_renewed info"));
}

}  // namespace
}  // namespace pollux::runtime
