//! Packet-level simulator of TCP over wireless networks.
pub mod agenda;
pub mod app;
pub mod net;
pub mod packet;
pub mod place;
pub mod radio;
pub mod record;
pub mod rng;
pub mod scenario;
pub mod setting;
pub mod sim;
pub mod tcp;
pub mod unit;
pub mod wlan;
