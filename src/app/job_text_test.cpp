#include "app/job_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"

namespace pollux::app {
namespace {

using document::Node;
using ::testing::HasSubstr;
using ::testing::Not;

Node node(std::string_view json) {
    document::Diagnostics diagnostics;
    return document::parse_json(json, "test", diagnostics).root;
}

TEST(JobText, CountsSayHowFarABatchIs) {
    const Node jobs = node(R"([{"state":"completed"},{"state":"failed"},{"state":"cancelled"},
        {"state":"running"},{"state":"pending","held":true},{"state":"blocked","held":false},
        {"state":"ready"}])");
    const JobCounts counts = count_jobs(jobs.items());
    EXPECT_EQ(counts.all(), 7U);
    EXPECT_EQ(
        counts_text(counts),
        "3 of 7 ended: 1 completed, 1 failed, 1 cancelled; 1 running, 2 waiting, 1 held until "
        "somebody releases them");
    EXPECT_EQ(counts_text({.completed = 2}), "2 of 2 ended: 2 completed");
    EXPECT_EQ(counts_text({.waiting = 1}), "0 of 1 ended; 1 waiting");
}

TEST(JobText, AGraphShowsLevelsNeedsAndTheCriticalPath) {
    const Node graph = node(R"({"batch":"b1","jobs":[
        {"level":0,"job":{"id":"1","name":"check-a","type":"exec","state":"completed",
                          "depends_on":[]}},
        {"level":0,"job":{"id":"2","name":"check-b","type":"exec","state":"running",
                          "depends_on":[],"progress":{"done":3,"total":9,"text":"hosts"}}},
        {"level":1,"job":{"id":"3","name":"drain","type":"ssh","state":"blocked",
                          "depends_on":[["1","2"]]}},
        {"level":2,"job":{"id":"4","name":"backup","type":"maintenance","state":"blocked",
                          "depends_on":[["1"],["3"],["old"]],"verdict":"waits for drain"}}],
        "critical_path":{"seconds":80,"jobs":["1","4"]}})");
    EXPECT_EQ(job_graph_text(graph, false),
              "batch b1: 4 jobs on 3 levels; 1 of 4 ended: 1 completed; 1 running, 2 waiting\n"
              "LEVEL  JOB        TYPE         STATE      NEEDS                      NOTE\n"
              "0      check-a *  exec         completed  -                          -\n"
              "0      check-b    exec         running    -                          3 of 9, hosts\n"
              "1      drain      ssh          blocked    check-a or check-b         -\n"
              "2      backup *   maintenance  blocked    check-a and drain and old  waits for "
              "drain\n"
              "critical path (*), 80 s: check-a -> backup\n");
}

TEST(JobText, OutputOfADeviceCannotSteerTheTerminal) {
    const Node job = node(R"({"id":"1","type":"ssh","state":"failed","failure":"it said \u001b[2J",
        "created_at":"2026-01-02T03:04:05.000Z","created_by":"ada"})");
    const Node runs = node(R"({"items":[
        {"attempt":1,"started_at":"2026-01-02T03:04:05.000Z","outcome":"transient","output":"old"},
        {"attempt":2,"started_at":"2026-01-02T03:04:06.000Z","outcome":"permanent",
         "error":"exit status 3","output":"a\n\u001b[31mb\n","log":["began"]}],"live_log":[]})");
    const std::string page = job_page(job, runs, node(R"(["7","8"])").items(), false);
    EXPECT_THAT(page, HasSubstr("needed by   7, 8\n"));
    EXPECT_THAT(page, HasSubstr("log of the last attempt\n  began\n"));
    EXPECT_THAT(page, HasSubstr("output of the last attempt\n  a\n  "));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("old")));
}

}  // namespace
}  // namespace pollux::app
