// A list that is filled, read and cleared again and again: what was cleared keeps its room, that of
// its texts included, up to a bound. Assigning to an element costs no allocation then.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace pollux::base {

template <class T>
class KeptList {
  public:
    using value_type = T;
    using size_type = std::size_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = typename std::vector<T>::iterator;
    using const_iterator = typename std::vector<T>::const_iterator;

    static constexpr std::size_t kKept = 1024;  // elements with their room

    // One more, with whatever it had before: assign all of it.
    T& add() {
        if (size_ == all_.size()) all_.emplace_back();
        return all_[size_++];
    }
    void push_back(T value) { add() = std::move(value); }
    void clear() {
        if (all_.size() > kKept) all_.resize(kKept);
        size_ = 0;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return all_[i]; }
    const T& operator[](std::size_t i) const { return all_[i]; }
    T& front() { return all_.front(); }
    const T& front() const { return all_.front(); }
    T& back() { return all_[size_ - 1]; }
    const T& back() const { return all_[size_ - 1]; }
    T& at(std::size_t i) { return all_.at(i); }
    const T& at(std::size_t i) const { return all_.at(i); }
    iterator begin() { return all_.begin(); }
    iterator end() { return all_.begin() + static_cast<std::ptrdiff_t>(size_); }
    const_iterator begin() const { return all_.begin(); }
    const_iterator end() const { return all_.begin() + static_cast<std::ptrdiff_t>(size_); }

  private:
    std::vector<T> all_;  // the first size_ count
    std::size_t size_ = 0;
};

}  // namespace pollux::base
