// What a server left on disk, looked at in a copy so that nothing is mended by looking. Only while
// the server does not run.
#pragma once

#include <string>
#include <vector>

#include "net/test_process.hpp"

namespace pollux::live {

class StateCopy {
  public:
    explicit StateCopy(const std::string& data_folder, const std::string& name = "state.db");

    // What the sqlite3 tool says to "PRAGMA integrity_check": "ok".
    std::string integrity() const;
    // Rows of the answer, each its columns joined by "|".
    std::vector<std::string> rows(const std::string& sql) const;

  private:
    net::test::TempDir folder_;
    std::string name_;
};

}  // namespace pollux::live
