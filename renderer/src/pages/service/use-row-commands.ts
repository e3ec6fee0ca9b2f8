import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { goTo, servicePage } from "../../app/route.ts";
import { useControl } from "../../control/client-context.tsx";
import { useServices } from "../../control/use-store.ts";
import { type KindCommands, notKept, type RowCommands } from "../../inspectors/kind-commands.ts";
import type { Command } from "../../ui/commands.ts";
import { copyText } from "../../ui/copy/copy-text.ts";
import { attempt, notifyDone } from "../../ui/status/notify.tsx";

/** The commands of a row: for its menu, the toolbar and the palette. `ofService` has those of a service's page. */
export function useRowCommands(
  ofService: (service: ServiceId) => RowCommands | undefined,
  onOpen: (row: TrafficRow) => void,
): (row: TrafficRow) => readonly Command[] {
  const client = useControl();
  const services = useServices();
  return (row) => {
    const open: Command = { id: "row-open", title: "Open in the inspector", run: () => onOpen(row) };
    const service = services.find(({ id }) => id === row.service);
    const ofKind = ofService(row.service)?.[row.kind] as KindCommands<DetailKind> | undefined;
    if (!service || !ofKind) return [open];
    const { copies, target, resend, openInTry } = ofKind;
    const withDetail = async <Result>(
      use: (detail: Parameters<(typeof copies)[number]["text"]>[0]) => Result,
    ): Promise<Awaited<Result>> => {
      const found = await client.call("traffic.detail", { id: row.service, row: row.id });
      if (!found) throw notKept();
      return await use(found.detail);
    };
    const copied = (what: string) => () => void notifyDone(`Copied ${what}`);
    return [
      open,
      ...copies.map(({ title, text }) => ({
        id: `row-copy-${title}`,
        title: `Copy as ${title}`,
        run: () => void attempt(withDetail(async (detail) => copyText(await text(detail, service, client))).then(copied(title))),
      })),
      { id: "row-copy-target", title: `Copy the ${target}`, run: () => void attempt(copyText(row.target).then(copied(row.target))) },
      ...(resend
        ? [
            {
              id: "row-resend",
              title: resend.title,
              keywords: "resend repeat replay",
              enabled: service.status.state === "running" && row.tone !== "pending",
              run: () => void attempt(withDetail((detail) => resend.run(client, detail, service)).then((words) => notifyDone(words))),
            },
          ]
        : []),
      ...(openInTry
        ? [
            {
              id: "row-try",
              title: "Open in Try",
              keywords: "edit change resend",
              run: () =>
                void attempt(
                  withDetail((detail) => {
                    openInTry(detail, row);
                    goTo(servicePage(row.service, "try"));
                  }),
                ),
            },
          ]
        : []),
    ];
  };
}
