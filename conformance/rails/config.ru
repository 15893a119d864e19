# Real Action Cable on Puma with the channels of `plimsoll conform cable`, in one file: the twin of
# crates/conformance/src/cable/application/channel.rs, where a table says what each channel does.
#
#   puma --bind tcp://127.0.0.1:9292 conformance/rails/config.ru
#   plimsoll conform cable ws://127.0.0.1:9292/cable --rpc none

require "rails"
require "action_cable/engine"

class CableApplication < Rails::Application
  config.eager_load = false
  config.secret_key_base = "only for tests" * 8
  config.logger = Logger.new($stderr, level: :fatal)
  config.action_cable.disable_request_forgery_protection = true
end

class Connection < ActionCable::Connection::Base
  identified_by :uid

  # `request` is protected, and channels report what it says.
  def url = request.original_url
  def token = request.params["token"]

  def connect
    reject_unauthorized_connection unless welcome?
    self.uid = request.params["uid"] || SecureRandom.uuid
  end

  private

  def welcome?
    case request.params["test"]
    when "refused" then false
    when "cookies" then cookies[:username].present?
    when "headers" then request.headers["X-Api-Token"] == "abc"
    else true
    end
  end
end

class StreamsChannel < ActionCable::Channel::Base
  def subscribed = Array(params[:streams]).each { |stream| stream_from stream }
  def follow(data) = stream_from(data["stream"])
  def stop(data) = stop_stream_from(data["stream"])
  def stop_all(_data) = stop_all_streams
  def tick(_data) = transmit("tock")
  def say(data) = transmit(data["message"])
  def broadcast(data) = ActionCable.server.broadcast(data["stream"], data["message"])
  def end(data) = connection.close(reason: "remote", reconnect: data["reconnect"])
end

class SlowChannel < StreamsChannel
  def subscribed
    sleep params[:ms] / 1000.0
    super
  end
end

class RefusedChannel < ActionCable::Channel::Base
  def subscribed = reject
end

class GreetingChannel < ActionCable::Channel::Base
  def subscribed = %w[hello world].each { |word| transmit word }
end

class RequestChannel < ActionCable::Channel::Base
  def subscribed = transmit({ url: connection.url })
end

class TokenChannel < ActionCable::Channel::Base
  def subscribed
    reject unless connection.token == "secret"
  end
end

class FarewellChannel < ActionCable::Channel::Base
  def subscribed = @name = params[:name]
  def unsubscribed = ActionCable.server.broadcast(params[:stream], { left: @name })
end

class CounterChannel < FarewellChannel
  def tick(_data) = transmit({ count: @count = @count.to_i + 1, name: @name })
end

# Takes what AnyCable's servers take at POST /_broadcast: a message, a list of messages, or a remote disconnect.
class BroadcastDoor
  def call(env)
    command = ActiveSupport::JSON.decode(env["rack.input"].read)
    Array.wrap(command).each { |each| carry_out(each) }
    [201, {}, []]
  end

  private

  def carry_out(command)
    return end_sessions(command["payload"]) if command["command"] == "disconnect"

    # Not `ActionCable.server.broadcast`, which would encode what is encoded already.
    ActionCable.server.pubsub.broadcast(command["stream"], command["data"])
  end

  def end_sessions(payload)
    user = ActiveSupport::JSON.decode(payload["identifier"])
    connections = ActionCable.server.remote_connections.where(uid: user["uid"])
    # Action Cable 6.1 has no `reconnect`.
    takes_reconnect = connections.method(:disconnect).parameters.any?
    takes_reconnect ? connections.disconnect(reconnect: payload["reconnect"]) : connections.disconnect
  end
end

# Inline and one worker, so that results are the same each time. As Action Cable comes, threads take broadcasts and
# commands out of their order now and then: ADAPTER=async WORKERS=4 shows it.
ActionCable.server.config.cable = { "adapter" => ENV.fetch("ADAPTER", "inline") }
ActionCable.server.config.worker_pool_size = Integer(ENV.fetch("WORKERS", "1"))
ActionCable.server.config.connection_class = -> { Connection }
ActionCable.server.config.logger = Logger.new($stderr, level: :fatal)
CableApplication.initialize!

# Requests do this when they come, and two of the first ones at the same time start two timers, which both ping everybody.
ActionCable.server.setup_heartbeat_timer

map("/_broadcast") { run BroadcastDoor.new }
map("/cable") { run ActionCable.server }
