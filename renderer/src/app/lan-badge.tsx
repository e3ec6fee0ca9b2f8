import { Menu, UnstyledButton } from "@mantine/core";
import { IconLock, IconWifi } from "@tabler/icons-react";
import type { ServiceView } from "../../../contract/service.ts";
import { useServices } from "../control/use-store.ts";
import { Chip } from "../ui/panel.tsx";
import { lanSwitchTitle, useLanSwitch } from "../ui/services/use-lan-switch.ts";

const mostNamed = 2;

type Listed = Pick<ServiceView, "title" | "status">;

const isOn = ({ status: { state } }: Listed): boolean => state === "running" || state === "starting" || state === "stopping";

/** Of the services that are opened: those that run, else what is true once they do. */
function lanText(opened: readonly Listed[]): string {
  if (opened.length === 0) return "This computer only";
  const open = opened.filter(isOn);
  if (open.length === 0) return "LAN: open when started";
  return open.length > mostNamed ? `LAN: ${open.length} services open` : `LAN: ${open.map(({ title }) => title).join(", ")} open`;
}

function lanLabel(opened: readonly Listed[]): string {
  if (opened.length === 0) return "Every service listens on loopback: nobody else on your network can reach it.";
  const names = (services: readonly Listed[]) => services.map(({ title }) => title).join(", ");
  const [open, later] = [opened.filter(isOn), opened.filter((service) => !isOn(service))];
  const sentences = [
    open.length > 0 && `Others on your network can reach ${names(open)}.`,
    later.length > 0 && `Once started, others can reach ${names(later)}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

/** Whether other computers on the network can reach a service; its menu opens services to them, and closes them. */
export function LanBadge() {
  const built = useServices().filter((service) => service.built);
  const switchLan = useLanSwitch();
  const open = built.filter((service) => service.openToLan);
  const Icon = open.length > 0 ? IconWifi : IconLock;
  const label = lanLabel(open);
  // Not known before the services are.
  if (built.length === 0) return null;
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
