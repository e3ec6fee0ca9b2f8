import { useMemo } from "react";
import { useService } from "../../../control/use-store.ts";
import { CopyMenu } from "../../../inspectors/copy-menu.tsx";
import { InspectorContent, InspectorFrame, type InspectorProps, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { notCopied } from "../../../inspectors/kind-commands.ts";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import { inBash } from "../../../ui/copy/shells.ts";
import { Chip } from "../../../ui/panel.tsx";
import { formatBytes } from "../../../ui/texts/quantity.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import { brokerAddress } from "../broker/broker-address.ts";
import { versionText } from "../clients/mqtt-texts.ts";
import { Deliveries } from "../history/delivery-panel.tsx";
import { PayloadViewer } from "../history/payload-viewer.tsx";
import { PropertyList } from "../history/property-list.tsx";
import { wholeDraftOf } from "../publish/publish-draft.ts";
import { mosquittoPubOf } from "../try/mqtt-commands.ts";
import styles from "./mqtt-message-inspector.module.css";

/** One message: payload, properties, and deliveries. */
export function MqttMessageInspector({ row, detail, onClose }: InspectorProps<"mqtt-message">) {
  const { topic, bytes, qos, retain, dup, version, at } = detail;
  const broker = useService(row.service);
  const copies = useMemo(
    () => [
      {
        id: "mosquitto_pub",
        title: inBash("mosquitto_pub"),
        text: () => mosquittoPubOf(wholeDraftOf(detail, notCopied), brokerAddress(broker), undefined),
      },
      { id: "topic", title: "topic", text: () => topic },
    ],
    [detail, broker, topic],
  );
  return (
    <InspectorFrame title={topic} hint={topic} mono actions={<CopyMenu rememberAs="copy-mqtt-as" choices={copies} />} onClose={onClose}>
      <InspectorTabs
        rememberAs="inspector.mqtt-tab"
        tabs={[
          {
            name: "payload",
            title: "Payload",
            content: (
              <>
                <p className={styles.facts}>
                  <time title={isoTime(at)}>{clockTime(at)}</time>
                  <Chip>{`QoS ${qos}`}</Chip>
                  <Chip>{formatBytes(bytes)}</Chip>
                  {version !== undefined && <Chip>{`MQTT ${versionText(version)}`}</Chip>}
                  {retain && <Chip>retain</Chip>}
                  {dup && <Chip>duplicate</Chip>}
                  <ToneMark tone={row.tone} word={row.outcome} />
                </p>
                <InspectorContent>
                  <PayloadViewer
                    message={detail}
                    cutBy="Recorded payload"
                    emptyText={retain ? "Empty with retain: it deletes the topic's retained message." : "The payload is empty."}
                  />
                </InspectorContent>
              </>
            ),
          },
          {
            name: "properties",
            title: "Properties",
            content: (
              <div className={styles.padded}>
                <PropertyList message={detail} />
              </div>
            ),
          },
          { name: "delivery", title: "Delivery", content: <Deliveries message={detail} /> },
        ]}
      />
    </InspectorFrame>
  );
}
