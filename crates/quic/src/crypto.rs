//! Sessions with the messages and sizes of TLS 1.3, but without cryptography: packets are plain, tags are zeros.
//!
//! A run has no adversary, and keys would cost most of its time.

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::Arc;

/// Tag of AES-128-GCM \[B\].
const TAG: usize = 16;

/// Sizes of handshake messages \[B\]: those of TLS 1.3 with X25519 and a chain of two ECDSA certificates, of which the
/// second is that of an intermediate authority.
const CLIENT_HELLO: usize = 280;
const SERVER_HELLO: usize = 90;
const SERVER_FLIGHT: usize = 2_000;
const FINISHED: usize = 36;

/// Message type and length (RFC 8446, section 4), here followed by the length of the transport parameters.
const HEADER: usize = 4;

/// Progress of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The client has to send its hello, the server waits for it.
    Hello,
    /// The client waits for the hello of the server, which has to send it.
    ServerHello,
    /// The client waits for the other messages of the server, which has to send them.
    ServerFlight,
    /// The server waits for the last message of the client, which has to send it.
    Finished,
    /// The handshake is complete.
    Done,
}

/// A session without cryptography.
struct Plain {
    side: Side,
    stage: Stage,
    own: TransportParameters,
    peers: Option<TransportParameters>,
    /// Bytes of a message that is not complete.
    read: Vec<u8>,
    /// True if keys of the handshake are to be handed over.
    has_handshake_keys: bool,
}

impl Plain {
    fn start(side: Side, own: &TransportParameters) -> Box<dyn Session> {
        let (own, peers, read) = (*own, None, Vec::new());
        Box::new(Plain { side, stage: Stage::Hello, own, peers, read, has_handshake_keys: false })
    }

    /// Writes a message that carries the transport parameters.
    fn write(&self, size: usize, buf: &mut Vec<u8>) {
        let mut parameters = Vec::new();
        self.own.write(&mut parameters);
        message(&parameters, size, buf);
    }

    /// Interprets a message.
    fn on_message(&mut self, body: &[u8]) -> Result<(), TransportError> {
        let has_parameters = match (self.side, self.stage) {
            (Side::Server, Stage::Hello) => true,
            (Side::Client, Stage::ServerHello) => {
                self.has_handshake_keys = true;
                false
            }
            (Side::Client, Stage::ServerFlight) => true,
            (Side::Server, Stage::Finished) => false,
            _ => {
                let code = TransportErrorCode::PROTOCOL_VIOLATION;
                return Err(TransportError { code, frame: None, reason: "unexpected message of the handshake".into() });
            }
        };
        if has_parameters {
            let size = usize::from(u16::from_be_bytes([body[0], body[1]]));
            let mut parameters = &body[2..2 + size];
            self.peers = Some(TransportParameters::read(self.side, &mut parameters)?);
        }
        self.stage = match self.stage {
            Stage::Hello => Stage::ServerHello,
            Stage::ServerHello => Stage::ServerFlight,
            Stage::ServerFlight => Stage::Finished,
            Stage::Finished | Stage::Done => Stage::Done,
        };
        Ok(())
    }
}

/// Writes a message with contents and padding.
fn message(contents: &[u8], size: usize, buf: &mut Vec<u8>) {
    let body = (2 + contents.len()).max(size - HEADER);
    buf.extend_from_slice(&(body as u32).to_be_bytes());
    let end = buf.len() + body;
    buf.extend_from_slice(&(contents.len() as u16).to_be_bytes());
    buf.extend_from_slice(contents);
    buf.resize(end, 0);
}

impl Session for Plain {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.stage != Stage::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.read.extend_from_slice(buf);
        while let Some(size) = self.read.first_chunk().map(|size| u32::from_be_bytes(*size) as usize) {
            if self.read.len() < HEADER + size {
                break;
            }
            let rest = self.read.split_off(HEADER + size);
            let whole = std::mem::replace(&mut self.read, rest);
            self.on_message(&whole[HEADER..])?;
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peers)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.stage) {
            (Side::Client, Stage::Hello) => {
                self.write(CLIENT_HELLO, buf);
                self.stage = Stage::ServerHello;
                None
            }
            (Side::Server, Stage::ServerHello) => {
                message(&[], SERVER_HELLO, buf);
                self.stage = Stage::ServerFlight;
                Some(keys())
            }
            (Side::Server, Stage::ServerFlight) => {
                self.write(SERVER_FLIGHT, buf);
                self.stage = Stage::Finished;
                Some(keys())
            }
            (Side::Client, _) if std::mem::take(&mut self.has_handshake_keys) => Some(keys()),
            (Side::Client, Stage::Finished) => {
                message(&[], FINISHED, buf);
                self.stage = Stage::Done;
                Some(keys())
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// Starts sessions, and stands for all keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoCryptography;

fn keys() -> Keys {
    let header = || -> Box<dyn HeaderKey> { Box::new(NoCryptography) };
    let packet = || -> Box<dyn PacketKey> { Box::new(NoCryptography) };
    Keys {
        header: KeyPair { local: header(), remote: header() },
        packet: KeyPair { local: packet(), remote: packet() },
    }
}

impl ClientConfig for NoCryptography {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Plain::start(Side::Client, params))
    }
}

impl ServerConfig for NoCryptography {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; TAG]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Plain::start(Side::Server, params)
    }
}

impl HeaderKey for NoCryptography {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

impl PacketKey for NoCryptography {
    fn encrypt(&self, _: u64, buf: &mut [u8], _: usize) {
        let tag = buf.len() - TAG;
        buf[tag..].fill(0);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(payload.len().checked_sub(TAG).ok_or(CryptoError)?);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HmacKey for NoCryptography {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        // Reset tokens of different connection IDs differ.
        signature_out.fill(0);
        let size = data.len().min(signature_out.len());
        signature_out[..size].copy_from_slice(&data[..size]);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for NoCryptography {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(NoCryptography)
    }
}

impl AeadKey for NoCryptography {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let size = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..size])
    }
}
