//! Exported functions. They hand out places in vectors that the module owns, so that there is no unsafe block.

use crate::machine::Machine;
use std::cell::RefCell;

#[derive(Default)]
struct Exchange {
    machine: Machine,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::new(Exchange::default());
}

#[expect(unsafe_code, reason = "exported names")]
mod names {
    use super::EXCHANGE;

    /// Place for a request of `length` bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn room(length: usize) -> *mut u8 {
        EXCHANGE.with_borrow_mut(|exchange| {
            exchange.request = vec![0; length];
            exchange.request.as_mut_ptr()
        })
    }

    /// Answers the request; returns the length of the answer.
    #[unsafe(no_mangle)]
    pub extern "C" fn ask() -> usize {
        EXCHANGE.with_borrow_mut(|exchange| {
            exchange.answer = exchange.machine.answer(&exchange.request);
            exchange.answer.len()
        })
    }

    /// Place of the answer.
    #[unsafe(no_mangle)]
    pub extern "C" fn answer() -> *const u8 {
        EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
    }
}
