// The tables of history.db.
#pragma once

#include "store/sqlite/migrations.hpp"

namespace pollux::store {

const Schema& history_schema();

}  // namespace pollux::store
