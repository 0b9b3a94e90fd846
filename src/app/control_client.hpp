// Asks the server of a data folder through its control socket. For commands; blocks.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "document/node.hpp"

namespace pollux::app {

class ControlClient {
  public:
    explicit ControlClient(const std::string& data_folder);

    bool server_runs() const;
    // Its number as this process would name it, also where it runs in a container; 0: not known.
    pid_t server_process() const;
    // The JSON of the answer. An error of the server comes back as an error here.
    base::Result<document::Node> ask(std::string_view method, std::string_view target,
                                     std::string body) const;
    // The text of the answer as it is.
    base::Result<std::string> ask_text(std::string_view method, std::string_view target,
                                       std::string body) const;
    static std::string escaped(std::string_view text);  // for a query

  private:
    std::string path_;
};

}  // namespace pollux::app
