import { Menu, UnstyledButton } from "@mantine/core";
import { IconLock, IconWifi } from "@tabler/icons-react";
import type { ServiceView } from "../../../contract/service.ts";
import { useServices } from "../control/use-store.ts";
import { Chip } from "../ui/panel.tsx";
import { lanSwitchTitle, useLanSwitch } from "../ui/services/use-lan-switch.ts";

const mostNamed = 2;

function lanText(open: readonly Pick<ServiceView, "title">[]): string {
  if (open.length === 0) return "This computer only";
  return open.length > mostNamed ? `LAN: ${open.length} services open` : `LAN: ${open.map(({ title }) => title).join(", ")} open`;
}

/** Whether other computers on the network can reach a service; its menu opens services to them, and closes them. */
export function LanBadge() {
  const built = useServices().filter((service) => service.built);
  const switchLan = useLanSwitch();
  const open = built.filter((service) => service.openToLan);
  const Icon = open.length > 0 ? IconWifi : IconLock;
  const label =
    open.length > 0
      ? `Others on your network can reach ${open.map((service) => service.title).join(", ")}.`
      : "Every service listens on loopback: nobody else on your network can reach it.";
  return (
    <Menu position="bottom-end" width={300}>
      <Menu.Target>
        <UnstyledButton aria-label={`${lanText(open)}: choose who can reach the services`}>
          <Chip tall tone={open.length > 0 ? "warn" : undefined}>
            <Icon size={14} stroke={1.5} />
            <span data-words>{lanText(open)}</span>
          </Chip>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{label}</Menu.Label>
        {built.map((service) => {
          const Shown = service.openToLan ? IconWifi : IconLock;
          return (
            <Menu.Item
              key={service.id}
              disabled={service.status.state === "starting" || service.status.state === "stopping"}
              leftSection={<Shown size={14} stroke={1.5} color={service.openToLan ? "var(--bl-warn)" : "var(--bl-text-3)"} />}
              onClick={() => void switchLan(service)}
            >
              {lanSwitchTitle(service)}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
