import { Kbd, useMantineColorScheme } from "@mantine/core";
import type { SpotlightActionData, SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconCopy,
  IconEraser,
  IconPlayerPlay,
  IconRefresh,
  IconRoute,
  IconSettings,
  IconSquare,
  IconTerminal2,
  IconWifi,
} from "@tabler/icons-react";
import type { ServiceView } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import { useConfigs } from "../control/use-config.ts";
import { useProfiles, useServices } from "../control/use-store.ts";
import { askedField } from "../pages/config/draft.ts";
import { tabsOf } from "../pages/service/service-page.tsx";
import { settingTexts } from "../pages/settings/setting-row.tsx";
import { type Command, runWhenOffered, shortcuts, shownCommands } from "../ui/commands.ts";
import { copyText } from "../ui/copy/copy-text.ts";
import { playingSamples, useStartSampleTraffic, useStopSampleTraffic } from "../ui/services/sample-traffic.tsx";
import { useClearTraffic } from "../ui/services/use-clear-traffic.ts";
import { lanSwitchTitle, useLanSwitch } from "../ui/services/use-lan-switch.ts";
import { useServiceOperations } from "../ui/services/use-service-operations.ts";
import { attempt, notifyDone } from "../ui/status/notify.tsx";
import { StatusShape, shapeOf, stateWord } from "../ui/status/status-shape.tsx";
import { endpointsOf, isPickedAtStart } from "../ui/texts/address.ts";
import { capitalized } from "../ui/texts/quantity.ts";
import { goTo, parseRoute, returnTo, servicePage } from "./route.ts";
import { schemes } from "./scheme-menu.tsx";

const icon = (Icon: NonNullable<Command["icon"]>) => <Icon size={16} stroke={1.5} color="var(--bl-text-3)" />;

/** Hundreds of fields: they are found by their names. */
export const configurationGroup = "Configuration";

/** Of pages that are not shown: they are found by their names, too. */
export const elsewhereGroup = "On other pages";

/** The entries of the palette, in groups, while it is open. */
export function usePaletteActions(opened: boolean): SpotlightActionGroupData[] {
  const client = useControl();
  const services = useServices();
  const profiles = useProfiles();
  const { start, stop, restart, startAll, stopAll } = useServiceOperations();
  const sendSample = useStartSampleTraffic();
  const stopSample = useStopSampleTraffic();
  const clearTraffic = useClearTraffic();
  const switchLan = useLanSwitch();
  const { setColorScheme } = useMantineColorScheme();
  const built = services.filter((service) => service.built);
  const samples = playingSamples(built);
  const configs = useConfigs(
    built.map(({ id }) => id),
    opened,
  );
  if (!opened) return [];

  const pageOf = (service: ServiceView): SpotlightActionData => ({
    id: `page-${service.id}`,
    label: service.title,
    description: service.built ? `${stateWord(service.status)} · ${service.purpose}` : "Not built yet",
    leftSection: <StatusShape shape={shapeOf(service.status)} />,
    onClick: () => goTo(returnTo(service.id, parseRoute(location.hash))),
  });

  const ofService = (service: ServiceView): SpotlightActionData[] => {
    const { id, title, status } = service;
    const running = status.state === "running";
    const idle = status.state === "stopped" || status.state === "failed";
    return [
      ...(idle ? [{ id: `start-${id}`, label: `Start ${title}`, leftSection: icon(IconPlayerPlay), onClick: () => void start(id) }] : []),
      ...(running
        ? [
            { id: `stop-${id}`, label: `Stop ${title}`, leftSection: icon(IconSquare), onClick: () => void stop(id) },
            { id: `restart-${id}`, label: `Restart ${title}`, leftSection: icon(IconRefresh), onClick: () => void restart(id) },
            {
              id: `sample-${id}`,
              label: `Send sample traffic to ${title}`,
              leftSection: icon(IconRoute),
              onClick: () => void sendSample([id]),
            },
          ]
        : []),
      ...(running && service.playsSample
        ? [
            {
              id: `end-sample-${id}`,
              label: `Stop sample traffic of ${title}`,
              leftSection: icon(IconSquare),
              onClick: () => void stopSample([id]),
            },
          ]
        : []),
      { id: `lan-${id}`, label: lanSwitchTitle(service), leftSection: icon(IconWifi), onClick: () => void switchLan(service) },
      // What other pages show, such as the history of MQTT, is cleared by commands of their own.
      ...(tabsOf(id).some(({ kind }) => kind === "traffic")
        ? [
            {
              id: `clear-${id}`,
              label: `Clear the list of ${title}`,
              leftSection: icon(IconEraser),
              onClick: () => void clearTraffic(id, title),
            },
          ]
        : []),
      ...endpointsOf(service)
        .filter(({ url }) => !isPickedAtStart(url))
        .map((endpoint) => ({
          id: `copy-${id}-${endpoint.url}`,
          label: `Copy ${title} address`,
          description: endpoint.url,
          leftSection: icon(IconCopy),
          onClick: () => void attempt(copyText(endpoint.url).then(() => notifyDone(`Copied ${endpoint.url}`))),
        })),
    ];
  };

  const here = shownCommands();
  const elsewhere = ({ id, title }: ServiceView): SpotlightActionData[] =>
    tabsOf(id).flatMap((tab) =>
      ("commands" in tab ? (tab.commands ?? []) : [])
        .filter((command) => !here.some((shown) => shown.id === command.id))
        .map((command) => ({
          id: `elsewhere-${command.id}`,
          label: `${title}: ${command.title}`,
          ...(command.keywords !== undefined && { keywords: command.keywords }),
          ...(command.where !== undefined && { description: command.where }),
          leftSection: icon(IconTerminal2),
          onClick: () => {
            goTo(servicePage(id, tab.name));
            if (command.where === undefined) runWhenOffered(command.id);
          },
        })),
    );

  return [
    {
      group: "Here",
      actions: here.map(({ id, title, keywords, key, icon: Icon = IconTerminal2, run }) => ({
        id: `here-${id}`,
        label: title,
        ...(keywords !== undefined && { keywords }),
        leftSection: icon(Icon),
        rightSection: key && <Kbd>{shortcuts[key].keys.join(" ")}</Kbd>,
        onClick: run,
      })),
    },
    {
      group: "Services",
      actions: built.map(pageOf),
    },
    {
      group: "Actions",
      actions: [
        { id: "start-all", label: "Start all", leftSection: icon(IconPlayerPlay), onClick: () => void startAll() },
        { id: "stop-all", label: "Stop all", leftSection: icon(IconSquare), onClick: () => void stopAll() },
        ...(samples.length > 0
          ? [
              {
                id: "end-samples",
                label: "Stop all sample traffic",
                leftSection: icon(IconSquare),
                onClick: () => void stopSample(samples),
              },
            ]
          : []),
        ...built.flatMap(ofService),
      ],
    },
    {
      group: "Pages and settings",
      actions: [
        ...(["overview", "timeline", "settings"] as const).map((page) => ({
          id: `page-${page}`,
          label: capitalized(page),
          leftSection: icon(IconSettings),
          onClick: () => goTo({ page }),
        })),
        ...built.flatMap(({ id, title }) =>
          tabsOf(id)
            .slice(1)
            .map((tab) => ({
              id: `tab-${id}-${tab.name}`,
              label: `${title}: ${tab.title}`,
              keywords: tab.name === "config" ? "settings port configuration" : tab.name,
              leftSection: icon(IconSettings),
              onClick: () => goTo(servicePage(id, tab.name)),
            })),
        ),
        ...schemes.map(({ value, title, Icon }) => ({
          id: `scheme-${value}`,
          label: `Colour scheme: ${title.toLowerCase()}`,
          keywords: "theme mode appearance",
          leftSection: icon(Icon),
          onClick: () => setColorScheme(value),
        })),
        ...(profiles?.names ?? [])
          .filter((name) => name !== profiles?.active)
          .map((name) => ({
            id: `profile-${name}`,
            label: `Switch to profile ${name}`,
            leftSection: icon(IconSettings),
            onClick: () => void attempt(client.call("profile.activate", { name })),
          })),
        ...Object.values(settingTexts).map(({ label, keywords }) => ({
          id: `setting-${label}`,
          label,
          description: "Settings",
          keywords,
          leftSection: icon(IconSettings),
          onClick: () => goTo({ page: "settings" }),
        })),
      ],
    },
    { group: elsewhereGroup, actions: built.filter(({ status }) => status.state === "running").flatMap(elsewhere) },
    {
      group: configurationGroup,
      actions: built.flatMap(({ id, title }, place) =>
        (configs[place]?.fields ?? []).map(({ name, title: field, group, env, flag }) => ({
          id: `field-${id}-${name}`,
          label: `${title}: ${field}`,
          description: group,
          keywords: [name, flag, ...env],
          leftSection: icon(IconSettings),
          onClick: () => {
            askedField.set({ id, name });
            goTo(servicePage(id, "config"));
          },
        })),
      ),
    },
    { group: "Not built yet", actions: services.filter((service) => !service.built).map(pageOf) },
  ].filter(({ actions }) => actions.length > 0);
}
