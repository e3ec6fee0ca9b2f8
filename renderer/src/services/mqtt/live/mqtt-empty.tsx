import { Button } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import type { ServiceView } from "../../../../../contract/service.ts";
import { SampleTrafficButton, useSampleTraffic } from "../../../ui/services/sample-traffic.tsx";
import { StartServiceButton } from "../../../ui/services/start-service-button.tsx";
import { FirstSteps } from "../../../ui/status/first-steps.tsx";
import { brokerAddress } from "../broker/broker-address.ts";
import { useAnonymous } from "../broker/use-broker.ts";
import { firstDraft } from "../publish/publish-draft.ts";
import { mosquittoPubOf } from "../try/mqtt-commands.ts";

const whatAppears = [
  ["topics", "as a tree, with counts and last values"],
  ["history", "of each topic: payloads, what changed, and a plot of numbers"],
  ["delivery", "which clients received a message, and when each acknowledged it"],
  ["clients", "with subscriptions, queue, keep alive and will"],
] as const;

interface MqttEmptyProps {
  readonly service: ServiceView | undefined;
  readonly onPublish: () => void;
}

/** Shown on an empty page: what will appear here, and how to produce it. */
export function MqttEmpty({ service, onPublish }: MqttEmptyProps) {
  const address = brokerAddress(service);
  const anonymous = useAnonymous();
  const running = service?.status.state === "running";
  const sample = useSampleTraffic("mqtt");
  const listening = (
    <>
      on <code>{`${address.host}:${address.port}`}</code>. No messages yet.
    </>
  );
  const isKnown = address.port !== "0";
  const connect = isKnown ? (
    <>
      your client to <code>{`mqtt://${address.host}:${address.port}`}</code> (MQTT 3.1.1 or 5.0), or send sample traffic.
    </>
  ) : (
    "your client to its address, shown above once it runs (MQTT 3.1.1 or 5.0), or send sample traffic."
  );
  return (
    <FirstSteps
      steps={[
        running
          ? { title: "Listening", text: listening }
          : { title: "Start", text: "the broker. It listens on this computer only, unless you open it to the LAN." },
        { title: "Connect", text: connect },
        { title: "Watch", text: "topics appear here, and each message with its publisher and its receivers." },
      ]}
      ways={
        running ? (
          <>
            <SampleTrafficButton playing={sample.playing} onToggle={sample.toggle} />
            <Button size="md" leftSection={<IconSend size={15} stroke={1.5} />} onClick={onPublish}>
              Publish a message…
            </Button>
          </>
        ) : (
          <StartServiceButton id="mqtt" service={service} title="Start MQTT" />
        )
      }
      appears={whatAppears}
      command={isKnown ? mosquittoPubOf(firstDraft, address, anonymous) : undefined}
    />
  );
}
