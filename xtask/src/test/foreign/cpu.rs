//! The CPU time of a program that has ended, with all programs that it started and waited for.

use std::{fs, io, process::Child, time::Duration};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The clock ticks per second in `/proc`. Reason: Linux shows programs 100 on every architecture, whatever its own
/// interrupt rate is.
const TICKS_PER_SECOND: u32 = 100;

/// Waits for the end of a program, and reads its CPU time while the kernel still has it. The caller fetches the exit
/// status afterwards.
pub(super) fn of_ended(child: &Child) -> io::Result<Duration> {
    waitid(
        WaitId::Pid(Pid::from_child(child)),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )?;
    let path = format!("/proc/{}/stat", child.id());
    parsed(&fs::read_to_string(&path)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path} has no CPU times")))
}

/// The fields 14 to 17: user and system time of the program, and of the programs that it waited for. Fields are counted
/// behind the name, which may contain anything but stands in parentheses.
fn parsed(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().skip(11).take(4).collect();
    let [user, system, of_children, system_of_children] = fields[..] else {
        return None;
    };
    let mut ticks = 0;
    for field in [user, system, of_children, system_of_children] {
        ticks += field.parse::<u32>().ok()?;
    }
    Some(Duration::from_secs(1) * ticks / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn four_fields_are_added() {
        let check = |stat, expected| assert_eq!(parsed(stat), expected, "{stat}");
        let ms = |ms| Some(Duration::from_millis(ms));
        check("7 (a) b) Z 1 7 7 0 -1 0 0 0 0 0 100 20 300 4 20 0 1", ms(4_240));
        check("7 (node) Z 1 7 7 0 -1 0 0 0 0 0 1 2 3", None);
        check("7 (node) Z 1 7 7 0 -1 0 0 0 0 0 1 2 3 x 20", None);
        check("", None);
    }

    #[test]
    fn programs_that_a_program_waited_for_are_counted() {
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let mut child = Command::new("sh")
            .args(["-c", &format!("sh -c '{spin}'; true")])
            .spawn()
            .unwrap();
        let cpu = of_ended(&child).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(cpu > Duration::from_millis(20), "{cpu:?}");
    }
}
