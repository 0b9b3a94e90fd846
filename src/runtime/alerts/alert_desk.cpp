#include "runtime/alerts/alert_desk.hpp"

#include <pthread.h>

#include <future>
#include <utility>

#include "runtime/alerts/alert_work.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kStopWait = std::chrono::seconds(5);

}  // namespace

AlertDesk::AlertDesk(std::shared_ptr<net::EventLoop> loop) : loop_(std::move(loop)) {}

base::Result<std::unique_ptr<AlertDesk>> AlertDesk::make(store::Store& store, observe::Log& log,
                                                         CoreLoop& core, AlertDeskOptions options) {
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    std::unique_ptr<AlertDesk> desk(new AlertDesk(std::move(*loop)));
    desk->work_ =
        std::make_unique<Work>(desk->loop_, desk->board_, store, log, core, std::move(options));
    return desk;
}

base::Status AlertDesk::run(const std::vector<SignalNews>& present) {
    if (auto status = work_->restore(present); !status) return status;
    thread_ = std::thread([loop = loop_, work = work_.get()] {
        pthread_setname_np(pthread_self(), "pollux-alerts");
        work->begin();
        loop->run();
    });
    return {};
}

AlertDesk::~AlertDesk() { stop(); }

void AlertDesk::stop() {
    if (!thread_.joinable()) return;
    loop_->post([this] { work_->end(); });
    const base::BootTime give_up = net::boot_now() + kStopWait;
    for (bool idle = false; !idle && net::boot_now() < give_up;) {
        auto asked = std::make_shared<std::promise<bool>>();
        auto answer = asked->get_future();
        loop_->post([this, asked] { asked->set_value(work_->idle()); });
        idle = answer.wait_for(kStopWait) == std::future_status::ready && answer.get();
        if (!idle) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    loop_->stop();
    thread_.join();
    // Everything that lives on the loop goes before it, and not by the thread that ended.
    work_.reset();
}

void AlertDesk::set_image(AlertImage image) {
    loop_->post([this, image = std::move(image)]() mutable { work_->set_image(std::move(image)); });
}

void AlertDesk::set_policy(std::shared_ptr<const NotifyPolicy> policy) {
    loop_->post(
        [this, policy = std::move(policy)]() mutable { work_->set_policy(std::move(policy)); });
}

void AlertDesk::set_delivery(Deliver deliver) {
    loop_->post([this, deliver = std::move(deliver)]() mutable {
        work_->set_delivery(std::move(deliver));
    });
}

void AlertDesk::set_sink(AlertSink sink) {
    loop_->post([this, sink = std::move(sink)]() mutable { work_->set_sink(std::move(sink)); });
}

void AlertDesk::observed(std::vector<SignalNews> news) {
    loop_->post([this, news = std::move(news)]() mutable { work_->observed(std::move(news)); });
}

void AlertDesk::changed(TaskNews news) {
    loop_->post([this, news = std::move(news)] { work_->changed(news); });
}

void AlertDesk::observed_ourselves(model::Signal signal, base::WallTime at) {
    loop_->post([this, signal = std::move(signal), at]() mutable {
        work_->observed_ourselves(std::move(signal), at);
    });
}

void AlertDesk::suspect_ourselves(bool bad, std::string why) {
    loop_->post([this, bad, why = std::move(why)]() mutable {
        work_->report_observer(bad, std::move(why));
    });
}

void AlertDesk::delivered(std::vector<model::Notification> rows) {
    loop_->post([this, rows = std::move(rows)]() mutable { work_->delivered(std::move(rows)); });
}

void AlertDesk::act(alert::Act act, std::optional<model::AuditEntry> entry, ActDone done) {
    loop_->post(
        [this, act = std::move(act), entry = std::move(entry), done = std::move(done)]() mutable {
            work_->act(std::move(act), std::move(entry), std::move(done));
        });
}

void AlertDesk::external(std::vector<alert::External> alerts,
                         std::optional<model::AuditEntry> entry, Done done) {
    loop_->post([this, alerts = std::move(alerts), entry = std::move(entry),
                 done = std::move(done)]() mutable {
        work_->external(std::move(alerts), std::move(entry), std::move(done));
    });
}

void AlertDesk::test_receiver(std::string receiver, std::optional<model::AuditEntry> entry,
                              TestDone done) {
    loop_->post([this, receiver = std::move(receiver), entry = std::move(entry),
                 done = std::move(done)]() mutable {
        work_->test_receiver(receiver, std::move(entry), std::move(done));
    });
}

void AlertDesk::retry(std::string notification, std::optional<model::AuditEntry> entry, Done done) {
    loop_->post([this, notification = std::move(notification), entry = std::move(entry),
                 done = std::move(done)]() mutable {
        work_->settle(notification, model::DeliveryState::kWaiting, std::move(entry),
                      std::move(done));
    });
}

void AlertDesk::dismiss(std::string notification, std::optional<model::AuditEntry> entry,
                        Done done) {
    loop_->post([this, notification = std::move(notification), entry = std::move(entry),
                 done = std::move(done)]() mutable {
        work_->settle(notification, model::DeliveryState::kCancelled, std::move(entry),
                      std::move(done));
    });
}

void AlertDesk::explain_route(model::AlertLabels labels, model::Severity severity,
                              std::move_only_function<void(std::string)> done) {
    loop_->post([this, labels = std::move(labels), severity, done = std::move(done)]() mutable {
        done(work_->explain_route(labels, severity));
    });
}

void AlertDesk::open_alerts(std::move_only_function<void(std::vector<model::Alert>)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(work_->open_alerts()); });
}

void AlertDesk::audible_alerts(std::move_only_function<void(std::vector<model::Alert>)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(work_->audible_alerts()); });
}

void AlertDesk::tally(AlertSight visible, std::move_only_function<void(AlertTally)> done) {
    loop_->post([this, visible = std::move(visible), done = std::move(done)]() mutable {
        done(work_->tally(visible));
    });
}

void AlertDesk::standing_of(model::Alert alert, std::move_only_function<void(AlertStanding)> done) {
    loop_->post([this, alert = std::move(alert), done = std::move(done)]() mutable {
        done(work_->standing_of(alert));
    });
}

void AlertDesk::ask_alive(std::move_only_function<void(WorkCounts)> answer) {
    loop_->post([this, answer = std::move(answer)]() mutable { answer(work_->done()); });
}

void AlertDesk::collect_counts(std::move_only_function<void(AlertCounts)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(work_->counts()); });
}

}  // namespace pollux::runtime
