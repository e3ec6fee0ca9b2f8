import type { ServiceId } from "../../contract/service.ts";
import type { Service } from "../../servers/core/service/service.ts";
import { createPeerClient } from "../../servers/core/streams/peer-client.ts";
import { createPeerBroker, type Peer } from "../../servers/supervisor/peer-broker.ts";
import { type ServiceContract, type ServiceUnderTest, type StartOptions, startService } from "./start-service.ts";

export interface ConnectedServices {
  start<Contract extends ServiceContract>(service: Service, options: StartOptions): Promise<ServiceUnderTest<Contract>>;
  /** Tells the others that it has stopped. */
  gone(id: ServiceId): void;
}

/** Services in this process whose calls and streams reach one another, as the supervisor connects them. */
export function connectedServices(): ConnectedServices {
  const peers = new Map<ServiceId, Peer>();
  const broker = createPeerBroker((id) => peers.get(id));
  return {
    async start<Contract extends ServiceContract>(service: Service, options: StartOptions): Promise<ServiceUnderTest<Contract>> {
      const { id, title } = service;
      const client = createPeerClient((message) => broker.fromConsumer(id, message));
      const started = await startService<Contract>(service, {
        ...options,
        services: client.services,
        onStream(message) {
          if (message.type !== "binary" && message.type !== "binaryDropped") broker.fromProvider(id, message);
        },
      });
      peers.set(id, {
        title,
        isRunning: true,
        postStream(message) {
          if (message.type === "peerItem" || message.type === "peerResult" || message.type === "peerEnd") client.receive(message);
          else started.running.receiveStream(message);
        },
      });
      return started;
    },
    gone(id) {
      broker.gone(id, false);
      peers.delete(id);
    },
  };
}
