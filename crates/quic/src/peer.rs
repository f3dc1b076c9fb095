//! One end of a connection: the endpoint of the library with its only connection, in virtual time.

use crate::application::{Application, Traffic};
use crate::crypto::NoCryptography;
use bytes::BytesMut;
use chappe_core::packet::Ecn;
use chappe_core::rng::mix;
use chappe_core::unit::Time;
use quinn_proto::congestion::Controller;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, ConnectionStats,
    DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, ServerConfig, TransportConfig,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Length of connection IDs \[B\], that of the library.
const CID: usize = 8;

/// Connection IDs in sequence, from a number of the peer.
struct Numbered(u64);

impl ConnectionIdGenerator for Numbered {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 = mix(self.0);
        ConnectionId::new(&self.0.to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        CID
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Counters of one end.
#[derive(Clone, Debug)]
pub struct End {
    /// Bytes of streams that the application has read.
    pub bytes_read: u64,
    /// Streams that the application has opened.
    pub streams: u64,
    /// Time at which the handshake was complete here.
    pub connected_at: Option<Time>,
    /// Reason why the connection is lost.
    pub lost: Option<String>,
    /// Counters of the library.
    pub stats: ConnectionStats,
}

/// One end of a connection.
pub(crate) struct Peer {
    /// Instant of the library at the time 0 of the run.
    base: Instant,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    pub(crate) application: Application,
    buffer: Vec<u8>,
}

impl Peer {
    fn new(key: u64, server: Option<ServerConfig>, base: Instant, traffic: Option<Traffic>) -> Peer {
        let mut seed = [0; 32];
        for (place, bytes) in seed.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&mix(key ^ place as u64).to_be_bytes());
        }
        let mut config = EndpointConfig::new(Arc::new(NoCryptography));
        config.rng_seed(Some(seed)).cid_generator(move || Box::new(Numbered(key)));
        let endpoint = Endpoint::new(Arc::new(config), server.map(Arc::new), true, None);
        Peer { base, endpoint, connection: None, application: Application::new(traffic), buffer: Vec::new() }
    }

    /// A server that waits for its client.
    pub(crate) fn server(key: u64, transport: Arc<TransportConfig>, base: Instant) -> Peer {
        let mut config = ServerConfig::new(Arc::new(NoCryptography), Arc::new(NoCryptography));
        config.transport_config(transport);
        Peer::new(key, Some(config), base, None)
    }

    /// A client that begins its handshake.
    pub(crate) fn client(
        key: u64,
        transport: Arc<TransportConfig>,
        base: Instant,
        traffic: Traffic,
        now: Time,
    ) -> Result<Peer, ConnectError> {
        let mut peer = Peer::new(key, None, base, Some(traffic));
        let mut config = ClientConfig::new(Arc::new(NoCryptography));
        let first = mix(key ^ u64::from(u32::MAX)).to_be_bytes();
        config.transport_config(transport).initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&first)));
        let connection = peer.endpoint.connect(peer.instant(now), config, other_end(), "server")?;
        peer.connection = Some(connection);
        peer.settle(now);
        Ok(peer)
    }

    fn instant(&self, at: Time) -> Instant {
        self.base + Duration::from_nanos(at.0)
    }

    /// Time at which it has to be called without a datagram.
    pub(crate) fn deadline(&mut self) -> Time {
        let of_library = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let since_begin =
            |at: Instant| Time(u64::try_from(at.duration_since(self.base).as_nanos()).unwrap_or(u64::MAX));
        of_library.map_or(Time::NEVER, since_begin).min(self.application.deadline())
    }

    /// Takes a datagram. What the endpoint would answer outside a connection is not sent.
    pub(crate) fn on_datagram(&mut self, ecn: Ecn, data: &[u8], now: Time) {
        let at = self.instant(now);
        let ecn = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect => Some(EcnCodepoint::Ect0),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        self.buffer.clear();
        match self.endpoint.handle(at, other_end(), None, ecn, BytesMut::from(data), &mut self.buffer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, at, &mut self.buffer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((of, connection)) = &mut self.connection
                    && *of == handle
                {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle(now);
    }

    /// Acts at its deadline.
    pub(crate) fn on_timer(&mut self, now: Time) {
        let at = self.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            if connection.poll_timeout().is_some_and(|due| due <= at) {
                connection.handle_timeout(at);
            }
            self.application.on_timer(connection, now);
        }
        self.settle(now);
    }

    /// Lets the endpoint, the connection and the application tell each other what has happened.
    fn settle(&mut self, now: Time) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            let Some(event) = connection.poll() else { return };
            self.application.on_event(connection, event, now);
        }
    }

    /// The next datagram to be sent now.
    pub(crate) fn transmit(&mut self, now: Time) -> Option<(Ecn, Vec<u8>)> {
        let at = self.instant(now);
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        let transmit = connection.poll_transmit(at, 1, &mut self.buffer)?;
        let ecn = match transmit.ecn {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
            Some(EcnCodepoint::Ect0 | EcnCodepoint::Ect1) => Ecn::Ect,
        };
        Some((ecn, self.buffer[..transmit.size].to_vec()))
    }

    /// Its counters.
    pub(crate) fn report(&self) -> End {
        let application = &self.application;
        End {
            bytes_read: application.bytes_read,
            streams: application.streams,
            connected_at: application.connected_at,
            lost: application.lost.clone(),
            stats: self.connection.as_ref().map(|(_, connection)| connection.stats()).unwrap_or_default(),
        }
    }

    /// The congestion control, once there is a connection.
    pub(crate) fn controller(&self) -> Option<&dyn Controller> {
        self.connection.as_ref().map(|(_, connection)| connection.congestion_state())
    }
}

/// Address of the other end, which has no meaning here.
fn other_end() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 4433).into()
}
