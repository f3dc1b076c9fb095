//! Runs random scenarios with all features until a check fails, in this folder's parent: `cargo run --release
//! --no-default-features --bin runs -- --seed 1 --cases 20000`. A failing scenario is reduced and written to a file.

mod cases;
mod reduce;

use cases::{Case, FILES, Failure, Held, Settings};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: runs [--seed N] [--from CASE] [--cases N] [--minutes N] [--out FOLDER] [--go-on]
       runs --seed N --case CASE           prints a case and checks it
       runs --seed N --file FILE [--perfect] checks a scenario in many ways";

/// Time of the processor after which a case counts as hanging. The refusal of a random topology that is never connected takes
/// up to a quarter of a minute.
const HANGS: Duration = Duration::from_secs(120);
/// Number of ways in which a file is checked.
const WAYS: u64 = 50;

/// Position of the last panic.
static PANICKED: Mutex<String> = Mutex::new(String::new());

struct Arguments {
    seed: u64,
    from: u64,
    cases: u64,
    minutes: Option<f64>,
    out: String,
    case: Option<u64>,
    file: Option<String>,
    is_perfect: bool,
    goes_on: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut a = Arguments {
        seed: 1,
        from: 0,
        cases: u64::MAX,
        minutes: None,
        out: "artifacts/runs".into(),
        case: None,
        file: None,
        is_perfect: false,
        goes_on: false,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{name} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text:?} is no number"));
        match name.as_str() {
            "--seed" => a.seed = number(value()?)?,
            "--from" => a.from = number(value()?)?,
            "--cases" => a.cases = number(value()?)?,
            "--minutes" => a.minutes = Some(value()?.parse().map_err(|_| "minutes are a number")?),
            "--out" => a.out = value()?,
            "--case" => a.case = Some(number(value()?)?),
            "--file" => a.file = Some(value()?),
            "--perfect" => a.is_perfect = true,
            "--go-on" => a.goes_on = true,
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(a)
}

fn main() -> ExitCode {
    let a = match arguments() {
        Ok(a) => a,
        Err(e) => {
            eprintln!("{e}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // Panics are caught and reported with their scenario.
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = PANICKED.lock() {
            *last = panic.location().map(ToString::to_string).unwrap_or_default();
        }
    }));
    let fails = match (&a.file, a.case) {
        (Some(file), _) => of_file(&a, file),
        (None, Some(number)) => {
            let case = Case::draw(&Settings::new(), a.seed, number).without_mistakes();
            println!("{}", case.text());
            tell(&case.check())
        }
        (None, None) => of_seed(&a),
    };
    ExitCode::from(u8::from(fails))
}

/// Reports the result; returns true for a failure.
fn tell(found: &Result<Held, Failure>) -> bool {
    match found {
        Ok(held) => println!("{held:?}"),
        Err(failure) => {
            println!("FAILS: {}: {}", failure.check, failure.what);
            if failure.check == "panic" {
                println!("the panic is at {}", PANICKED.lock().expect("nobody panics"));
            }
        }
    }
    found.is_err()
}

fn of_file(a: &Arguments, file: &str) -> bool {
    let read = std::fs::read_to_string(file).map_err(|e| e.to_string());
    let scenario = match read.and_then(|text| toml::from_str(&text).map_err(|e| e.to_string())) {
        Ok(scenario) => scenario,
        Err(e) => {
            eprintln!("{file}: {e}");
            return true;
        }
    };
    let case = Case { scenario, is_perfect: a.is_perfect, of: (a.seed, 0) };
    let found = (0..WAYS).map(|way| Case { of: (a.seed, way), ..case.clone() }.check());
    let mut last = Ok(Held::Whole);
    for each in found {
        last = each;
        if last.is_err() {
            break;
        }
    }
    tell(&last)
}

/// Time that the processor has spent on the main thread, which other programs do not lengthen; the time since `begin` where
/// the system does not tell it.
fn spent(begin: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let spent = told.and_then(|text| text.split_whitespace().next()?.parse().ok()).map(Duration::from_nanos);
    spent.unwrap_or_else(|| begin.elapsed())
}

/// Reports a hanging case, and ends the program.
fn watch(settings: Arc<Settings>, seed: u64, begin: Instant, current: Arc<(AtomicU64, Mutex<Duration>)>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let since = *current.1.lock().expect("nobody panics");
            if spent(begin).saturating_sub(since) > HANGS {
                let number = current.0.load(Ordering::Relaxed);
                println!("{}", Case::draw(&settings, seed, number).text());
                println!("FAILS: case {number} of seed {seed} does not come to its end");
                std::process::exit(1);
            }
        }
    });
}

fn of_seed(a: &Arguments) -> bool {
    let settings = Arc::new(Settings::new());
    let begin = Instant::now();
    let current = Arc::new((AtomicU64::new(0), Mutex::new(Duration::ZERO)));
    watch(settings.clone(), a.seed, begin, current.clone());
    let (mut whole, mut long, mut refused, mut fails) = (0_u64, 0, 0, 0);
    let mut told = Instant::now();
    let mut number = a.from;
    let is_over = |cases: u64| cases >= a.cases || a.minutes.is_some_and(|m| begin.elapsed().as_secs_f64() > m * 60.0);
    while !is_over(whole + long) {
        current.0.store(number, Ordering::Relaxed);
        *current.1.lock().expect("nobody panics") = spent(begin);
        let case = Case::draw(&settings, a.seed, number).without_mistakes();
        match case.check() {
            Ok(Held::Whole) => whole += 1,
            Ok(Held::Long) => long += 1,
            Ok(Held::Refused) => refused += 1,
            Err(failure) => {
                fails += 1;
                println!("FAILS: case {number} of seed {}: {}: {}", a.seed, failure.check, failure.what);
                if !a.goes_on {
                    found(a, &case, &failure, number, &current.1);
                    break;
                }
            }
        }
        number += 1;
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            eprintln!("{whole} held, {long} were too long, {refused} were refused, {fails} failed");
        }
    }
    let took = begin.elapsed().as_secs();
    println!(
        "seed {}, cases {} to {number}: {whole} held, {long} were too long, {refused} were refused, {fails} failed, \
         {took} s",
        a.seed, a.from
    );
    fails > 0
}

/// Reduces a failing case, and writes it to a file.
fn found(a: &Arguments, case: &Case, failure: &Failure, number: u64, since: &Mutex<Duration>) {
    if failure.check == "panic" {
        println!("the panic is at {}", PANICKED.lock().expect("nobody panics"));
    }
    // The reduction may take longer than a case.
    *since.lock().expect("nobody panics") += Duration::from_secs(3600);
    let (least, failure) = reduce::reduced(case, failure);
    let text = format!(
        "# Case {number} of seed {}: {}: {}\n\n{}",
        a.seed,
        failure.check,
        failure.what.replace('\n', "\n# "),
        least.text()
    );
    println!("\n{text}");
    let file = format!("{}/{}-{number}.toml", a.out, a.seed);
    let write = |name: &str, text: &str| -> std::io::Result<()> {
        std::fs::create_dir_all(&a.out)?;
        std::fs::File::create(name)?.write_all(text.as_bytes())
    };
    let files = FILES.iter().filter(|f| text.contains(f.0)).map(|f| (format!("{}/{}", a.out, f.0), f.1));
    for (name, text) in files.chain([(file, text.as_str())]) {
        match write(&name, text) {
            Ok(()) => println!("written to {name}"),
            Err(e) => println!("cannot write {name}: {e}"),
        }
    }
}
