# Real Action Cable on Puma, in one file: the benchmark's channel as websocket-bench's authors wrote its contract.

require "rails"
require "action_cable/engine"

class CableApplication < Rails::Application
  config.eager_load = false
  config.secret_key_base = "only for tests" * 8
  config.logger = Logger.new($stderr, level: :warn)
  config.action_cable.disable_request_forgery_protection = true
end

class Connection < ActionCable::Connection::Base
end

class BenchmarkChannel < ActionCable::Channel::Base
  def subscribed
    @own = SecureRandom.uuid
    stream_from @own
    stream_from "all"
  end

  def echo(data)
    publish(@own, "echo", data)
  end

  def broadcast(data)
    publish("all", "broadcast", data)
    publish(@own, "broadcastResult", data)
  end

  private

  def publish(stream, action, data)
    ActionCable.server.broadcast(stream, { action: action, payload: data["payload"] })
  end
end

ActionCable.server.config.cable = { "adapter" => "async" }
ActionCable.server.config.connection_class = -> { Connection }
ActionCable.server.config.logger = Logger.new($stderr, level: :warn)
CableApplication.initialize!
run ActionCable.server
