//! Facts of this machine and of this process, for `os` and `process`.

use std::{env::consts, fs, os::unix::fs::MetadataExt, process};

use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::{host::Host, source::Specifier};

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("system", Function::new(ctx.clone(), system)?)?;
    native.set("memory", Function::new(ctx.clone(), memory)?)?;
    native.set("memoryUse", Function::new(ctx.clone(), memory_use)?)?;
    native.set("loadAverage", Function::new(ctx.clone(), load_average)?)?;
    native.set("upTime", Function::new(ctx.clone(), up_time)?)?;
    native.set("cwd", Function::new(ctx.clone(), working_directory)?)?;
    native.set("environment", Function::new(ctx.clone(), environment)?)
}

fn working_directory(ctx: Ctx<'_>) -> String {
    Host::of(&ctx).program.directory.to_string_lossy().into_owned()
}

fn environment(ctx: Ctx<'_>) -> Result<Value<'_>> {
    ctx.globals().get("__ENV")
}

/// The first line of a file of the kernel.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The text after a key of such a file: `key : text`.
fn field(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn n_processors() -> usize {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processors = text.lines().filter(|line| line.starts_with("processor"));
    processors.count().max(1)
}

fn system(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let host = Host::of(&ctx);
    let facts = Object::new(ctx)?;
    facts.set(
        "platform",
        match consts::OS {
            "macos" => "darwin",
            os => os,
        },
    )?;
    facts.set(
        "arch",
        match consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            "x86" => "ia32",
            arch => arch,
        },
    )?;
    facts.set("pid", process::id())?;
    facts.set("ppid", std::os::unix::process::parent_id())?;
    facts.set("cpus", n_processors())?;
    facts.set("cpuModel", field("/proc/cpuinfo", "model name"))?;
    facts.set("hostname", line("/proc/sys/kernel/hostname"))?;
    facts.set("release", line("/proc/sys/kernel/osrelease"))?;
    facts.set("version", line("/proc/sys/kernel/version"))?;
    let own = fs::metadata("/proc/self").ok();
    facts.set("uid", own.as_ref().map_or(0, MetadataExt::uid))?;
    facts.set("gid", own.as_ref().map_or(0, MetadataExt::gid))?;
    let program = fs::read_link("/proc/self/exe").ok();
    let program = program.map_or_else(
        || "plimsoll".to_owned(),
        |path| path.to_string_lossy().into_owned(),
    );
    facts.set("program", program)?;
    let entry = Specifier::parse(&host.program.entry).and_then(|entry| entry.to_path());
    let entry = entry.map_or_else(
        || host.program.entry.clone(),
        |path| path.to_string_lossy().into_owned(),
    );
    facts.set("entry", entry)?;
    Ok(facts)
}

/// A number of kilobytes in a file of the kernel, in bytes.
fn kilobytes(path: &str, key: &str) -> f64 {
    let text = field(path, key).unwrap_or_default();
    let number = text
        .split_whitespace()
        .next()
        .and_then(|number| number.parse().ok());
    number.unwrap_or(0.0_f64) * 1_024.0
}

fn memory(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let memory = Object::new(ctx)?;
    memory.set("total", kilobytes("/proc/meminfo", "MemTotal"))?;
    memory.set("free", kilobytes("/proc/meminfo", "MemAvailable"))?;
    Ok(memory)
}

/// The memory of the whole process; the engine's heaps are parts of it.
fn memory_use(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let resident = kilobytes("/proc/self/status", "VmRSS");
    let usage = Object::new(ctx)?;
    for name in ["rss", "heapTotal", "heapUsed"] {
        usage.set(name, resident)?;
    }
    for name in ["external", "arrayBuffers"] {
        usage.set(name, 0)?;
    }
    Ok(usage)
}

fn numbers(path: &str) -> Vec<f64> {
    let text = line(path).unwrap_or_default();
    text.split_whitespace()
        .map_while(|number| number.parse().ok())
        .collect()
}

fn load_average() -> Vec<f64> {
    let mut averages = numbers("/proc/loadavg");
    averages.resize(3, 0.0);
    averages
}

fn up_time() -> f64 {
    numbers("/proc/uptime").first().copied().unwrap_or(0.0)
}
