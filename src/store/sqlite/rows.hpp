// Small things that every part of SqliteBackend does with rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

// Calls `take` for each row of the statement; one that returns bool stops with false.
template <class Take>
base::Status each_row(base::Result<Statement>& statement, Take take) {
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        if constexpr (std::is_same_v<decltype(take(*statement)), bool>) {
            if (!take(*statement)) return {};
        } else {
            take(*statement);
        }
    }
}

// Runs the statement once for each key, which is its first parameter.
inline base::Status for_keys(Database& database, std::string_view sql,
                             const std::vector<std::string>& keys) {
    if (keys.empty()) return {};
    auto statement = database.prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& key : keys) {
        statement->bind(1, std::string_view(key));
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

// An unknown number can only come from another program: it becomes the nearest known one.
template <class Enumeration>
Enumeration enumerator(const Statement& row, int column, Enumeration last) {
    const auto value = std::clamp<std::int64_t>(row.integer(column), 0, static_cast<int>(last));
    return static_cast<Enumeration>(value);
}

template <class Enumeration>
int number_of(Enumeration one) {
    return static_cast<int>(one);
}

inline base::Error closed_error() {
    return {"store.closed", base::ErrorClass::kPermanent, "store: read after the store was closed"};
}

}  // namespace pollux::store
