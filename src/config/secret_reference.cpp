#include "config/secret_reference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

constexpr std::size_t kMaxSecretBytes = 65'536;

bool is_variable_name(std::string_view text) {
    const auto good = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && text.size() <= 256 && !(text[0] >= '0' && text[0] <= '9') &&
           std::all_of(text.begin(), text.end(), good);
}

base::Result<SecretReference> refuse(std::string message) {
    return base::config_error("credentials.reference", std::move(message));
}

}  // namespace

base::Result<SecretReference> parse_secret_reference(std::string_view text) {
    if (text.empty()) return refuse("is empty: write ${VARIABLE}, file:/path or vault:name");
    if (text.size() > kMaxSecretBytes) {
        return refuse(fmt::format("is longer than {} bytes", kMaxSecretBytes));
    }
    if (text.starts_with("${")) {
        const std::string_view name =
            text.ends_with('}') ? text.substr(2, text.size() - 3) : std::string_view();
        if (!is_variable_name(name)) {
            return refuse("is no variable: write ${NAME} with letters, digits and _ in the name");
        }
        return SecretReference{SecretKind::kEnvironment, std::string(name), {}};
    }
    if (text.starts_with("file:")) {
        const std::string_view path = text.substr(5);
        if (!path.starts_with('/') || base::has_control(path)) {
            return refuse("must name an absolute path: file:/path/of/the/secret");
        }
        return SecretReference{SecretKind::kFile, std::string(path), {}};
    }
    if (text.starts_with("vault:")) {
        auto name = model::normalise_name("vault", text.substr(6));
        if (!name) return refuse("must name a secret of the vault: vault:name");
        return SecretReference{SecretKind::kVault, std::move(*name), {}};
    }
    return SecretReference{SecretKind::kLiteral, {}, base::Secret(std::string(text))};
}

std::string reveal(const SecretReference& reference) {
    switch (reference.kind) {
        case SecretKind::kEnvironment: return "${" + reference.name + "}";
        case SecretKind::kFile: return "file:" + reference.name;
        case SecretKind::kVault: return "vault:" + reference.name;
        case SecretKind::kLiteral: return reference.literal.reveal();
    }
    return {};
}

std::string describe(const SecretReference& reference) {
    return reference.kind == SecretKind::kLiteral ? "(secret)" : reveal(reference);
}

base::Result<model::Credentials> resolve(std::string_view name, const Credential& credential,
                                         const SecretSource& source) {
    model::Credentials result;
    result.username = credential.username;
    result.client_certificate = credential.client_certificate;
    result.client_key = credential.client_key;
    result.snmp_auth = credential.snmp_auth;
    result.snmp_privacy = credential.snmp_privacy;
    result.snmp_context = credential.snmp_context;
    struct Part {
        std::string_view name;
        const std::optional<SecretReference>& reference;
        base::Secret& value;
    };
    const Part parts[] = {
        {"password", credential.password, result.password},
        {"token", credential.token, result.token},
        {"community", credential.community, result.community},
        {"client_key_password", credential.client_key_password, result.client_key_password},
        {"snmp_auth_password", credential.snmp_auth_password, result.snmp_auth_password},
        {"snmp_privacy_password", credential.snmp_privacy_password, result.snmp_privacy_password}};
    for (const Part& part : parts) {
        if (!part.reference) continue;
        if (part.reference->kind == SecretKind::kLiteral) {
            part.value = part.reference->literal;
            continue;
        }
        auto secret = source(*part.reference);
        if (!secret) {
            return base::make_error(secret.error().error_class, secret.error().code,
                                    fmt::format("credential {}, {}: {}", base::quoted(name),
                                                part.name, secret.error().message));
        }
        part.value = std::move(*secret);
    }
    return result;
}

}  // namespace pollux::config
