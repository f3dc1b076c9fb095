//! A small module that unpacks a large one. LZMA packs the simulator a fifth smaller than gzip, which is what browsers
//! unpack themselves. A page writes the packed bytes into the module and reads the plain ones.

use lzma_rust2::{LzmaReader, Read};
use std::cell::RefCell;

/// Bytes that are unpacked at a time.
const PIECE: usize = 1 << 16;

#[derive(Default)]
struct Exchange {
    packed: Vec<u8>,
    plain: Vec<u8>,
}

impl Exchange {
    /// Length of the plain bytes; 0: the packed ones are no LZMA, or are cut off.
    fn unpack(&mut self) -> usize {
        self.plain = plain(&self.packed).unwrap_or_default();
        self.plain.len()
    }
}

fn plain(packed: &[u8]) -> Option<Vec<u8>> {
    let mut reader = LzmaReader::new_mem_limit(packed, u32::MAX, None).ok()?;
    let (mut plain, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        match reader.read(&mut piece).ok()? {
            0 => return Some(plain),
            length => plain.extend_from_slice(&piece[..length]),
        }
    }
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::new(Exchange::default());
}

#[expect(unsafe_code, reason = "exported names")]
mod names {
    use super::EXCHANGE;

    /// Place for `length` packed bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn room(length: usize) -> *mut u8 {
        EXCHANGE.with_borrow_mut(|exchange| {
            exchange.packed = vec![0; length];
            exchange.packed.as_mut_ptr()
        })
    }

    /// Unpacks them; returns the number of plain bytes, 0 if they are no LZMA.
    #[unsafe(no_mangle)]
    pub extern "C" fn unpack() -> usize {
        EXCHANGE.with_borrow_mut(super::Exchange::unpack)
    }

    /// Place of the plain bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn unpacked() -> *const u8 {
        EXCHANGE.with_borrow(|exchange| exchange.plain.as_ptr())
    }
}
