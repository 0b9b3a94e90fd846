// The tables of state.db. Room for what comes (outbox) is the next number.
#pragma once

#include "store/sqlite/migrations.hpp"

namespace pollux::store {

const Schema& state_schema();

}  // namespace pollux::store
