//! `plimsoll man`: manual pages made from the help texts.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Command, Parser};
use clap_mangen::Man;

use crate::exit::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  plimsoll man run | man -l -
  plimsoll man --dir ~/.local/share/man/man1";

/// Print the manual page of a command, or write the pages of all commands into a folder.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The command, for example `bench broadcast`; without one, the page of the program itself.
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write one page for each command into this folder, which is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Options {
    /// Renders pages of `program`, the whole command line.
    pub(crate) fn execute(self, mut program: Command) -> Result<Status, Failure> {
        // Gives each command the name by which it is called, such as `plimsoll bench broadcast`.
        program.build();
        match &self.dir {
            Some(dir) => {
                fs::create_dir_all(dir)?;
                clap_mangen::generate_to(program, dir)?;
            }
            None => io::stdout().write_all(&page(&program, &self.command)?)?,
        }
        Ok(Status::Success)
    }
}

/// The page of the command that `path` names, below `program`.
fn page(program: &Command, path: &[String]) -> Result<Vec<u8>, Failure> {
    let mut command = program;
    for name in path {
        command = command.find_subcommand(name).ok_or_else(|| {
            Failure::Usage(format!(
                "`{}` has no command `{name}`: `plimsoll --help` lists the commands",
                command.get_bin_name().unwrap_or("plimsoll")
            ))
        })?;
    }
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::CommandLine;

    fn rendered(path: &[&str]) -> Result<String, String> {
        let mut program = CommandLine::command();
        program.build();
        let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
        match page(&program, &path) {
            Ok(page) => Ok(String::from_utf8(page).unwrap()),
            Err(Failure::Usage(message)) => Err(message),
            Err(_) => panic!("only usage can be wrong"),
        }
    }

    #[test]
    fn a_page_has_the_name_and_the_options_of_its_command() {
        for (path, name, option) in [
            (&[][..], "plimsoll", "help"),
            (&["serve"], "plimsoll\\-serve", "broadcast_key"),
            (&["bench", "broadcast"], "plimsoll\\-bench\\-broadcast", "sample"),
        ] {
            let page = rendered(path).unwrap();
            assert!(page.contains(&format!(".SH NAME\n{name} \\- ")), "{page}");
            assert!(page.contains(option), "{path:?}: {option}");
        }
    }

    #[test]
    fn a_command_that_does_not_exist_is_named() {
        assert_eq!(
            rendered(&["bench", "brodcast"]).unwrap_err(),
            "`plimsoll bench` has no command `brodcast`: `plimsoll --help` lists the commands"
        );
    }
}
