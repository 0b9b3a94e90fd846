// What one Alertmanager was told, and what it is to be told next. Pure: time is handed in.
//
// An Alertmanager forgets an alert at its end unless it is told again. So what is open is told when
// it is new or changed and again every kRepeat, each time with an end kLife away: when we die it
// ends by itself, and not while we live. What is over is told once with its end.
//
// Invariants
// 1. Nothing counts as told before taken() says so; a post that failed is made again.
// 2. Bounded: a post has at most kMostPerPost alerts; what is over and cannot be told is forgotten
//    when its end has come anyway.
// 3. An alert whose labels changed, such as its severity, ends there under the old ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::feed {

class ForwardBook {
  public:
    static constexpr base::Duration kRepeat = std::chrono::minutes(1);
    static constexpr base::Duration kLife = std::chrono::minutes(4);
    static constexpr std::size_t kMostPerPost = 500;

    // All alerts that are to be known there at this moment.
    void set_open(std::vector<model::Alert> alerts, base::WallTime now);

    // The body of the next post to /api/v2/alerts; empty: there is nothing to say now.
    // `external_url` is where the pages of alerts are, without a slash at its end; may be empty.
    std::string next_post(base::WallTime now, std::string_view external_url);
    // Whether it was taken. Until then next_post() must not be called again.
    void taken(bool success, base::WallTime now);

    std::size_t size() const { return known_.size(); }

  private:
    struct Known {
        model::Alert alert;
        std::uint64_t told_version = 0;  // 0: never
        model::AlertLabels told_labels;  // labels are what an alert is there
        base::WallTime told_at;
        bool over = false;
        base::WallTime ended;
    };
    struct Posted {
        std::string id;
        std::uint64_t version = 0;
        model::AlertLabels labels;
        bool over = false;
    };
    static bool due(const Known& known, base::WallTime now);

    std::map<std::string, Known, std::less<>> known_;  // by id
    std::vector<Posted> posted_;                       // in the post under way
};

}  // namespace pollux::feed
