# frozen_string_literal: true

# The chat of examples/apps/ruby with work to do: each subscription takes WORK_SECONDS (0.15) of a thread, as a query of
# a database would. Every 100 ms it prints one JSON line with its age and its work so far:
#
#   at              seconds since the process began
#   busy            thread-seconds that calls have taken
#   subscriptions   finished subscriptions
#
# After SIGUSR1 every command raises, until the next SIGUSR1.

CHAT = File.expand_path("../../examples/apps/ruby", __dir__)
$LOAD_PATH.unshift File.join(CHAT, "lib")
require "chat"
require "json"

# The time that threads spend in calls.
class Work
  def initialize
    @mutex = Mutex.new
    @n_busy = 0
    @busy = 0.0
    @n_subscriptions = 0
    @changed_at = @started_at = now
  end

  def during(is_subscription)
    change(1, 0)
    yield
  ensure
    change(-1, is_subscription ? 1 : 0)
  end

  def to_json(*)
    change(0, 0)
    { at: @changed_at - @started_at, busy: @busy, subscriptions: @n_subscriptions }.to_json
  end

  private

  def change(n_busy, n_subscriptions)
    @mutex.synchronize do
      at = now
      @busy += @n_busy * (at - @changed_at)
      @changed_at = at
      @n_busy += n_busy
      @n_subscriptions += n_subscriptions
    end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

WORK = Work.new
WORK_SECONDS = Float(ENV.fetch("WORK_SECONDS", "0.15"))

# What is put in front of the chat.
module Busy
  @raises = false
  class << self
    attr_accessor :raises
  end

  def connect(*) = WORK.during(false) { super }

  def command(command, *)
    WORK.during(command == "subscribe") do
      sleep WORK_SECONDS if command == "subscribe"
      raise "the database is away" if Busy.raises

      super
    end
  end
end

Chat.prepend(Busy)
Signal.trap("USR1") { Busy.raises = !Busy.raises }
Thread.new do
  loop do
    sleep 0.1
    $stdout.puts WORK.to_json
    $stdout.flush
  end
end
load File.join(CHAT, "chat.rb")
