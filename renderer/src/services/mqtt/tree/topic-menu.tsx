import { Menu } from "@mantine/core";
import { IconCopy, IconFileText, IconPinnedOff, IconSitemap } from "@tabler/icons-react";
import { type ReactElement, useState } from "react";
import type { MqttTopicNode } from "../../../../../contract/services/mqtt.ts";
import { copyText } from "../../../ui/copy/copy-text.ts";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { scopeFilter, type TopicScope } from "./topic-scope.ts";

interface TopicMenuProps {
  /** Wraps the tree with a context menu, by right click or key, for the topic returned by `nodeOf`. */
  readonly children: ReactElement<{ onContextMenu?: (event: React.MouseEvent) => void }>;
  readonly node: MqttTopicNode | undefined;
  readonly onScope: (scope: TopicScope) => void;
  readonly onClearRetained: (filter: string) => void;
}

/** Actions for a topic and all topics below it. */
export function TopicMenu({ children, node, onScope, onClearRetained }: TopicMenuProps) {
  const icon = { size: 14, stroke: 1.5 } as const;
  // Keeps the topic's name while it closes.
  const [named, setNamed] = useState(node);
  if (node && node !== named) setNamed(node);
  const { topic = "", hasChildren = false, last } = named ?? {};
  const filter = scopeFilter({ topic, below: hasChildren });
  return (
    <Menu position="bottom-start" width={250} withinPortal={false}>
      <Menu.ContextMenu>{children}</Menu.ContextMenu>
      <Menu.Dropdown aria-label={`Topic ${shownText(topic)}`}>
        {last && hasChildren && (
          <Menu.Item leftSection={<IconFileText {...icon} />} onClick={() => onScope({ topic, below: false })}>
            Messages of this topic
          </Menu.Item>
        )}
        {hasChildren && (
          <Menu.Item leftSection={<IconSitemap {...icon} />} onClick={() => onScope({ topic, below: true })}>
            Messages with all topics below
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<IconCopy {...icon} />}
          onClick={() => void attempt(copyText(topic).then(() => notifyDone("Copied the topic.")))}
        >
          Copy the topic
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconPinnedOff {...icon} />} onClick={() => onClearRetained(filter)}>
          {hasChildren ? "Clear retained messages below…" : "Clear the retained message…"}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
