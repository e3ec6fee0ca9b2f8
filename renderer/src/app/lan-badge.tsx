import { Tooltip } from "@mantine/core";
import { IconLock, IconWifi } from "@tabler/icons-react";
import type { ServiceView } from "../../../contract/service.ts";
import { useServices } from "../control/use-store.ts";
import { Chip } from "../ui/panel.tsx";

const mostNamed = 2;

function lanText(open: readonly Pick<ServiceView, "title">[]): string {
  if (open.length === 0) return "This computer only";
  return open.length > mostNamed ? `LAN: ${open.length} services open` : `LAN: ${open.map(({ title }) => title).join(", ")} open`;
}

/** Whether other computers on the network can reach a service. */
export function LanBadge() {
  const open = useServices().filter((service) => service.built && service.openToLan);
  const Icon = open.length > 0 ? IconWifi : IconLock;
  const label =
    open.length > 0
      ? `Others on your network can reach ${open.map((service) => service.title).join(", ")}. Switch it off in the service's Config.`
      : "Every service listens on loopback: nobody else on your network can reach it.";
  return (
    <Tooltip label={label} multiline maw={300}>
      <Chip tall tone={open.length > 0 ? "warn" : undefined}>
        <Icon size={14} stroke={1.5} />
        <span data-words>{lanText(open)}</span>
      </Chip>
    </Tooltip>
  );
}
