// The runs of olsr.py for ns-3.37: OLSR between nodes that hear each other up to 250 m, at fixed places or walking.
// Usage: olsr PLACES|MOVEMENT NODES SECONDS SEED; PLACES: a file with x and y of a node in each line; MOVEMENT: a
// movement file of ns-2, *.tcl. Prints "sent TIME NODE BYTES" for each packet with its IP header, and, ten times a
// second, "routes TIME NODE DESTINATION:NEXT:HOPS ..." for each node whose routes are others than before.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"
#include "ns3/wifi-module.h"

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

static NodeContainer g_nodes;
static std::map<Ipv4Address, uint32_t> g_numbers;
static std::map<uint32_t, std::string> g_last;

static void
Sent(Ptr<const Packet> packet, Ptr<Ipv4> ipv4, uint32_t)
{
    const uint32_t node = ipv4->GetObject<Node>()->GetId();
    std::cout << "sent " << Simulator::Now().GetSeconds() << " " << node << " " << packet->GetSize() << "\n";
}

static void
Look()
{
    for (uint32_t i = 0; i < g_nodes.GetN(); ++i)
    {
        auto table = g_nodes.Get(i)->GetObject<olsr::RoutingProtocol>()->GetRoutingTableEntries();
        std::map<uint32_t, std::string> sorted;
        for (const auto& entry : table)
        {
            std::ostringstream text;
            const uint32_t to = g_numbers[entry.destAddr];
            text << " " << to << ":" << g_numbers[entry.nextAddr] << ":" << entry.distance;
            sorted[to] = text.str();
        }
        std::string all;
        for (const auto& [to, text] : sorted)
        {
            all += text;
        }
        if (all != g_last[i])
        {
            g_last[i] = all;
            std::cout << "routes " << Simulator::Now().GetSeconds() << " " << i << all << "\n";
        }
    }
    Simulator::Schedule(MilliSeconds(100), &Look);
}

int
main(int argc, char* argv[])
{
    if (argc != 5)
    {
        std::cerr << "usage: olsr PLACES|MOVEMENT NODES SECONDS SEED\n";
        return 2;
    }
    const std::string places = argv[1];
    g_nodes.Create(std::stoul(argv[2]));
    const double seconds = std::stod(argv[3]);
    RngSeedManager::SetRun(std::stoul(argv[4]));
    std::cout.precision(9);

    if (places.size() > 4 && places.substr(places.size() - 4) == ".tcl")
    {
        Ns2MobilityHelper(places).Install();
    }
    else
    {
        std::ifstream file(places);
        auto list = CreateObject<ListPositionAllocator>();
        double x, y;
        while (file >> x >> y)
        {
            list->Add(Vector(x, y, 0));
        }
        MobilityHelper mobility;
        mobility.SetPositionAllocator(list);
        mobility.Install(g_nodes);
    }

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate2Mbps"),
                                 "NonUnicastMode", StringValue("DsssRate1Mbps"));
    YansWifiPhyHelper phy;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(250));
    phy.SetChannel(channel.Create());
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, g_nodes);
    wifi.AssignStreams(devices, 100);

    OlsrHelper olsr;
    InternetStackHelper internet;
    internet.SetRoutingHelper(olsr);
    internet.Install(g_nodes);
    olsr.AssignStreams(g_nodes, 10000);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer at = addresses.Assign(devices);
    for (uint32_t i = 0; i < g_nodes.GetN(); ++i)
    {
        g_numbers[at.GetAddress(i)] = i;
        g_nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
    }
    Simulator::Schedule(MilliSeconds(100), &Look);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
