//! The simulator as a WebAssembly module. A page writes a request, a JSON object, into the module and reads the answer,
//! another one; nothing is shared with the page but numbers.

mod exports;
mod machine;
