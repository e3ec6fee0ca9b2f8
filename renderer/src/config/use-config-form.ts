import { useCallback, useEffect, useState } from "react";
import type { ConfigField, ConfigView } from "../../../contract/config.ts";
import type { ServiceId } from "../../../contract/service.ts";
import { notifyDone, notifyFailure } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { useConnection } from "../control/use-connection.ts";
import { useProfiles } from "../control/use-frame-stores.ts";
import { useService } from "../control/use-services.ts";
import { formatCountOf } from "../format/quantity.ts";
import { type Draft, draftOf, parseDraft } from "./draft.ts";

type ByField<Value> = Readonly<Record<string, Value>>;

/** The fields of a service, what was changed in the form and not saved, and what is wrong with it. */
export function useConfigForm(id: ServiceId) {
  const client = useControl();
  const open = useConnection().state === "open";
  const profile = useProfiles()?.active;
  const service = useService(id);
  const [view, setView] = useState<ConfigView>();
  const [drafts, setDrafts] = useState<ByField<Draft>>({});
  const [problems, setProblems] = useState<ByField<string>>({});
  const [busy, setBusy] = useState(false);
  // Another window or a mend may have changed what is shown.
  const changedElsewhere = `${profile} ${service?.restartNeeded} ${service?.openToLan} ${service?.ports.join()}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when something else changed it.
  useEffect(() => {
    if (open) client.call("config.read", { id }).then(setView, notifyFailure);
  }, [client, id, open, changedElsewhere]);

  const change = useCallback((field: ConfigField, draft: Draft) => {
    setProblems(({ [field.name]: _, ...others }) => others);
    setDrafts(({ [field.name]: _, ...others }) => (draft === draftOf(field) ? others : { ...others, [field.name]: draft }));
  }, []);

  async function settle(work: Promise<ConfigView>, done: string): Promise<void> {
    setBusy(true);
    try {
      setView(await work);
      notifyDone(done);
    } catch (error) {
      const { field } = failureOf(error);
      if (field && view?.fields.some(({ name }) => name === field.name)) setProblems({ [field.name]: field.problem });
      else notifyFailure(error);
    } finally {
      setBusy(false);
    }
  }

  async function save(): Promise<void> {
    const values: Record<string, unknown> = {};
    const found: Record<string, string> = {};
    for (const field of view?.fields ?? []) {
      const draft = drafts[field.name];
      if (draft === undefined) continue;
      const parsed = parseDraft(field, draft);
      if ("problem" in parsed) found[field.name] = parsed.problem;
      else values[field.name] = parsed.value;
    }
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    const count = Object.keys(values).length;
    await settle(
      client.call("config.write", { id, values }).then((next) => {
        setDrafts({});
        return next;
      }),
      `Saved ${formatCountOf(count, "change")}`,
    );
  }

  return {
    view,
    drafts,
    problems,
    busy,
    change,
    save,
    discard: () => {
      setDrafts({});
      setProblems({});
    },
    reset: (field: ConfigField) => {
      change(field, draftOf(field));
      return settle(client.call("config.reset", { id, fields: [field.name] }), `${field.title} is its default again`);
    },
    resetAll: () => {
      setDrafts({});
      setProblems({});
      return settle(client.call("config.reset", { id }), "Every field is its default again");
    },
  };
}
