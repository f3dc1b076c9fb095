// The runs of wifi.py for ns-3.37: saturated stations of 802.11n around a receiver, or TCP over a chain.
// Usage: wifi stations|chain NUMBER SECONDS SEED; prints the frames that were sent, the MPDUs of data, and the bytes
// delivered.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <iostream>

using namespace ns3;

static uint64_t g_frames = 0;
static uint64_t g_mpdus = 0;
static uint64_t g_aggregates = 0;

static void
Sent(WifiConstPsduMap psdus, WifiTxVector, double)
{
    ++g_frames;
    for (const auto& [station, psdu] : psdus)
    {
        if (psdu->GetHeader(0).IsQosData())
        {
            g_mpdus += psdu->GetNMpdus();
            g_aggregates += psdu->IsAggregate();
        }
    }
}

int
main(int argc, char* argv[])
{
    if (argc != 5)
    {
        std::cerr << "usage: wifi stations|chain NUMBER SECONDS SEED\n";
        return 2;
    }
    const bool chain = std::string(argv[1]) == "chain";
    const uint32_t number = std::stoul(argv[2]);
    const double seconds = std::stod(argv[3]);
    RngSeedManager::SetRun(std::stoul(argv[4]));

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("400p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(3600)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 * 1460));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 * 1460));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));

    NodeContainer nodes;
    nodes.Create(number + 1);
    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i <= number; ++i)
    {
        // The receiver is in the middle; or a hop is 10 m long.
        const double angle = 2 * M_PI * i / number;
        const double far = i == number ? 0 : 10;
        places->Add(chain ? Vector(10.0 * i, 0, 0) : Vector(far * std::cos(angle), far * std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("HtMcs7"),
                                 "ControlMode", StringValue("OfdmRate24Mbps"));
    YansWifiPhyHelper phy;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(3));
    phy.SetChannel(channel.Create());
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true), "BE_MaxAmpduSize", UintegerValue(65535));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 100);

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer at = addresses.Assign(devices);
    NeighborCacheHelper().PopulateNeighborCache();

    ApplicationContainer sinks;
    if (chain)
    {
        Ipv4StaticRoutingHelper routing;
        for (uint32_t i = 0; i <= number; ++i)
        {
            auto table = routing.GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>());
            if (i < number)
            {
                table->AddHostRouteTo(at.GetAddress(number), at.GetAddress(i + 1), 1);
            }
            if (i > 0)
            {
                table->AddHostRouteTo(at.GetAddress(0), at.GetAddress(i - 1), 1);
            }
        }
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(at.GetAddress(number), 5000));
        bulk.Install(nodes.Get(0)).Start(Seconds(0.1));
        sinks = PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000))
                    .Install(nodes.Get(number));
    }
    else
    {
        UdpClientHelper client(at.GetAddress(number), 5000);
        client.SetAttribute("PacketSize", UintegerValue(1472));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(180 * number)));
        client.SetAttribute("MaxPackets", UintegerValue(4000000000U));
        for (uint32_t i = 0; i < number; ++i)
        {
            client.Install(nodes.Get(i)).Start(MicroSeconds(100000 + 180 * i));
        }
        sinks = PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000))
                    .Install(nodes.Get(number));
    }
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxPsduBegin",
                                  MakeCallback(&Sent));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << "frames " << g_frames << " aggregates " << g_aggregates << " mpdus " << g_mpdus << " bytes "
              << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() << std::endl;
    Simulator::Destroy();
}
