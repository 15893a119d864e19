# frozen_string_literal: true

# The program plimsoll of this gem.
module Plimsoll
  VERSION = "{{version}}"

  # The path of the program.
  def self.program
    File.expand_path("../libexec/plimsoll", __dir__)
  end
end
