#include "model/failure.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pollux::model {
namespace {

using base::ErrorClass;

ErrorClass of_kind(FailureKind kind) { return classify({.kind = kind, .message = ""}); }

ErrorClass of_status(int status) {
    return classify({.kind = FailureKind::kApi, .http_status = status, .message = ""});
}

TEST(Failure, KindDecidesWithoutStatus) {
    EXPECT_EQ(of_kind(FailureKind::kNone), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kConnection), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kTimeout), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kDns), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kInternal), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kCancelled), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kApi), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kUnknown), ErrorClass::kTransient);
    EXPECT_EQ(of_kind(FailureKind::kAuth), ErrorClass::kAuth);
    EXPECT_EQ(of_kind(FailureKind::kConfiguration), ErrorClass::kConfig);
    EXPECT_EQ(of_kind(FailureKind::kCertificate), ErrorClass::kPermanent);
    EXPECT_EQ(of_kind(FailureKind::kValidation), ErrorClass::kPermanent);
    EXPECT_EQ(of_kind(FailureKind::kNotFound), ErrorClass::kPermanent);
}

TEST(Failure, StatusDecidesAlone) {
    for (const int status : {500, 502, 503, 599, 429, 408}) {
        EXPECT_EQ(of_status(status), ErrorClass::kTransient) << status;
    }
    for (const int status : {400, 404, 407, 409, 422, 499}) {
        EXPECT_EQ(of_status(status), ErrorClass::kPermanent) << status;
    }
    for (const int status : {0, 200, 204, 302, 399}) {
        EXPECT_EQ(of_status(status), ErrorClass::kTransient) << status;
    }
}

TEST(Failure, RefusedCredentialsAreAuthWhateverWrapsThem) {
    for (const int status : {401, 403}) {
        for (const FailureKind kind : {FailureKind::kConnection, FailureKind::kTimeout,
                                       FailureKind::kApi, FailureKind::kUnknown}) {
            EXPECT_EQ(classify({.kind = kind, .http_status = status, .message = ""}),
                      ErrorClass::kAuth)
                << status << " wrapped as " << to_string(kind);
        }
    }
}

TEST(Failure, MessageIsReadOnlyWhereTheKindSaysNothing) {
    const std::string_view refused = "authentication failed";
    EXPECT_EQ(classify({.kind = FailureKind::kApi, .message = refused}), ErrorClass::kAuth);
    EXPECT_EQ(classify({.kind = FailureKind::kUnknown, .message = refused}), ErrorClass::kAuth);
    EXPECT_EQ(classify({.kind = FailureKind::kApi, .http_status = 502, .message = refused}),
              ErrorClass::kTransient);
    // A port number in the message of a refused connection is not a status.
    EXPECT_EQ(classify({.kind = FailureKind::kConnection, .message = "10.0.0.1:403 refused"}),
              ErrorClass::kTransient);
}

TEST(Failure, OnlyTransientAndInternalAreRetried) {
    EXPECT_TRUE(is_retryable(ErrorClass::kTransient));
    EXPECT_TRUE(is_retryable(ErrorClass::kInternal));
    EXPECT_FALSE(is_retryable(ErrorClass::kPermanent));
    EXPECT_FALSE(is_retryable(ErrorClass::kAuth));
    EXPECT_FALSE(is_retryable(ErrorClass::kConfig));
}

TEST(Failure, AuthTextByPhrase) {
    EXPECT_TRUE(is_auth_error_text("Authentication FAILED for monitor@pve"));
    EXPECT_TRUE(is_auth_error_text("authentication\r\n\terror"));
    EXPECT_TRUE(is_auth_error_text("request unauthorized"));
    EXPECT_TRUE(is_auth_error_text("access Forbidden"));
    EXPECT_FALSE(is_auth_error_text(""));
    EXPECT_FALSE(is_auth_error_text("authentication succeeded"));
    EXPECT_FALSE(is_auth_error_text("authorized"));
}

TEST(Failure, AuthTextByStandaloneCode) {
    EXPECT_TRUE(is_auth_error_text("401"));
    EXPECT_TRUE(is_auth_error_text("HTTP/1.1 403 no"));
    EXPECT_TRUE(is_auth_error_text("status=401, body empty"));
    EXPECT_TRUE(is_auth_error_text("id 14013 then (403)"));
    EXPECT_FALSE(is_auth_error_text("HTTP 1403 response"));
    EXPECT_FALSE(is_auth_error_text("vm403 is gone"));
    EXPECT_FALSE(is_auth_error_text("403rd try"));
    EXPECT_FALSE(is_auth_error_text("402 404 500"));
}

TEST(Failure, AuthTextLooksAtABoundedHead) {
    const std::string padding(kAuthTextLimit, '.');
    EXPECT_FALSE(is_auth_error_text(padding + "unauthorized"));
    EXPECT_TRUE(is_auth_error_text(padding.substr(3) + "401"));
    EXPECT_TRUE(is_auth_error_text(padding.substr(3) + "401 more"));
    EXPECT_FALSE(is_auth_error_text(padding.substr(3) + "4015"));
    EXPECT_FALSE(is_auth_error_text(std::string(kAuthTextLimit + 1, 'x')));
}

TEST(Failure, NamesAreStable) {
    const std::vector<std::string_view> names = {
        "none",        "connection", "timeout",   "dns",           "auth",
        "certificate", "validation", "not_found", "configuration", "api",
        "internal",    "cancelled",  "unknown"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(to_string(static_cast<FailureKind>(i)), names[i]);
    }
    EXPECT_EQ(to_string(static_cast<FailureKind>(200)), "unknown");
}

TEST(Failure, ErrorTextNamesOperationAndPlace) {
    EXPECT_EQ(bounded_error_text("list nodes", "pve-a", "", "refused"),
              "list nodes failed on pve-a: refused");
    EXPECT_EQ(bounded_error_text("read status", "pve-a", "node1", "timed out"),
              "read status failed on pve-a/node1: timed out");
}

TEST(Failure, ErrorTextIsBoundedAndOnOneLine) {
    const std::string big(5000, 'x');
    const std::string text = bounded_error_text(big, big, big, big);
    const std::string context(kErrorContextLimit, 'x');
    EXPECT_EQ(text, context + " failed on " + context + "/" + context + ": " +
                        std::string(kErrorMessageLimit, 'x'));
    EXPECT_EQ(bounded_error_text("poll", "a", "", "first\n\x1b[31m\x7fsecond"),
              "poll failed on a: first [31m second");
    EXPECT_EQ(bounded_error_text("poll", "a", "", "line\xC2\x85next \xC2\xA9 \xC2"),
              "poll failed on a: line next \xC2\xA9 \xC2");
}

TEST(Failure, ErrorTextNeverSplitsACharacter) {
    const std::string euro = "\xE2\x82\xAC";
    const std::string message = std::string(kErrorMessageLimit - 2, 'x') + euro;
    EXPECT_EQ(bounded_error_text("poll", "a", "", message),
              "poll failed on a: " + std::string(kErrorMessageLimit - 2, 'x'));
    const std::string fits = std::string(kErrorMessageLimit - 3, 'x') + euro;
    EXPECT_EQ(bounded_error_text("poll", "a", "", fits), "poll failed on a: " + fits);
    // Broken UTF-8 of continuation bytes only has no boundary: nothing of it is kept.
    EXPECT_EQ(bounded_error_text("poll", "a", "", std::string(600, '\x80')), "poll failed on a: ");
}

}  // namespace
}  // namespace pollux::model
