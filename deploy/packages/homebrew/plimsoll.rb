# typed: strict
# frozen_string_literal: true

# The program plimsoll, on Linux.
class Plimsoll < Formula
  desc "Real-time cable server and the load laboratory that finds its line"
  homepage "{{url}}"
  version "{{version}}"
  license "MIT"
  depends_on :linux
{{archives}}
  def install
    bin.install "bin/plimsoll"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/plimsoll"
    zsh_completion.install "share/zsh/site-functions/_plimsoll"
    fish_completion.install "share/fish/vendor_completions.d/plimsoll.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/plimsoll --version")
  end
end
