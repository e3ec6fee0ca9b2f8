import { Menu } from "@mantine/core";
import { IconCopy, IconFileText, IconPinnedOff, IconSitemap } from "@tabler/icons-react";
import { type ReactElement, useState } from "react";
import type { MqttTopicNode } from "../../../../../contract/services/mqtt.ts";
import { CommandGroups } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { copyText } from "../../../ui/copy/copy-text.ts";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { scopeFilter, type TopicScope } from "./topic-scope.ts";

interface TopicMenuProps {
  /** The tree: a right click or the key opens the menu over it. */
  readonly children: ReactElement<{ onContextMenu?: (event: React.MouseEvent) => void }>;
  /** The topic that the menu is for. */
  readonly node: MqttTopicNode | undefined;
  /** The selected topic: the palette has its commands. */
  readonly chosen: MqttTopicNode | undefined;
  readonly onScope: (scope: TopicScope) => void;
  readonly onClearRetained: (filter: string) => void;
}

/** Actions for a topic and all topics below it. */
export function TopicMenu({ children, node, chosen, onScope, onClearRetained }: TopicMenuProps) {
  // Keeps the topic's name while it closes.
  const [named, setNamed] = useState(node);
  if (node && node !== named) setNamed(node);
  useCommands(chosen ? topicCommands(chosen, onScope, onClearRetained).flat() : []);
  return (
    <Menu position="bottom-start" width={250} withinPortal={false}>
      <Menu.ContextMenu>{children}</Menu.ContextMenu>
      <Menu.Dropdown aria-label={`Topic ${shownText(named?.topic ?? "")}`}>
        <CommandGroups groups={named ? topicCommands(named, onScope, onClearRetained) : []} />
      </Menu.Dropdown>
    </Menu>
  );
}

function topicCommands(
  { topic, hasChildren, last }: MqttTopicNode,
  onScope: TopicMenuProps["onScope"],
  onClearRetained: TopicMenuProps["onClearRetained"],
): readonly (readonly Command[])[] {
  const show = (below: boolean, title: string, icon: Command["icon"]): Command => ({
    id: `topic-show-${below ? "below" : "own"}`,
    title,
    run: () => onScope({ topic, below }),
    ...(icon && { icon }),
  });
  return [
    [
      ...(last && hasChildren ? [show(false, "Messages of this topic", IconFileText)] : []),
      ...(hasChildren ? [show(true, "Messages with all topics below", IconSitemap)] : []),
      {
        id: "topic-copy",
        title: "Copy the topic",
        icon: IconCopy,
        run: () => void attempt(copyText(topic).then(() => notifyDone("Copied the topic."))),
      },
    ],
    [
      {
        id: "topic-clear-retained",
        title: hasChildren ? "Clear retained messages below…" : "Clear the retained message…",
        icon: IconPinnedOff,
        isDestructive: true,
        run: () => onClearRetained(scopeFilter({ topic, below: hasChildren })),
      },
    ],
  ];
}
