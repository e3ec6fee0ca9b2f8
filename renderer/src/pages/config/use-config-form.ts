import { useCallback, useState } from "react";
import type { ConfigField, ConfigView } from "../../../../contract/config.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { useConfig } from "../../control/use-config.ts";
import { useProfiles, useService, useStore } from "../../control/use-store.ts";
import { notifyDone, notifyFailure } from "../../ui/status/notify.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { configDrafts, type Draft, draftOf, parseDraft, problemOf } from "./draft.ts";

type ByField<Value> = Readonly<Record<string, Value>>;

/** The fields of a service, with unsaved changes and their problems. */
export function useConfigForm(id: ServiceId) {
  const client = useControl();
  const profile = useProfiles()?.active;
  const service = useService(id);
  const draftStore = configDrafts(id, profile);
  const drafts = useStore(draftStore);
  /** Problems that the supervisor reported for sent values. */
  const [refused, setRefused] = useState<ByField<string>>({});
  const [busy, setBusy] = useState(false);
  // Another window or a fix may have changed the values.
  const answer = useConfig(id, `${profile} ${service?.restartNeeded} ${service?.configRevision}`);
  const { value: view } = answer;

  const change = useCallback(
    (field: ConfigField, draft: Draft) => {
      setRefused(({ [field.name]: _, ...others }) => others);
      const { [field.name]: _, ...others } = draftStore.latest();
      const over = draftStore.latest()[field.name]?.over ?? draftOf(field);
      draftStore.set(draft === draftOf(field) ? others : { ...others, [field.name]: { draft, over } });
    },
    [draftStore],
  );
  const forget = () => {
    draftStore.set({});
    setRefused({});
  };

  async function settle(work: Promise<ConfigView>, done: string): Promise<void> {
    setBusy(true);
    try {
      answer.set(await work);
      notifyDone(done);
    } catch (error) {
      const { field } = failureOf(error);
      if (field && view?.fields.some(({ name }) => name === field.name)) setRefused({ [field.name]: field.problem });
      else notifyFailure(error);
    } finally {
      setBusy(false);
    }
  }

  async function save(): Promise<void> {
    const values: Record<string, unknown> = {};
    for (const field of view?.fields ?? []) {
      const edited = drafts[field.name];
      if (edited === undefined) continue;
      const parsed = parseDraft(field, edited.draft);
      // The problem is already shown at the field; Enter still submits.
      if ("problem" in parsed) return;
      values[field.name] = parsed.value;
    }
    setRefused({});
    const count = Object.keys(values).length;
    await settle(
      client.call("config.write", { id, values }).then((next) => {
        draftStore.set({});
        return next;
      }),
      `Saved ${formatCountOf(count, "change")}`,
    );
  }

  const fields = view?.fields ?? [];
  return {
    answer,
    drafts,
    problemOf: (field: ConfigField) => problemOf(field, drafts[field.name]?.draft, refused[field.name]),
    /** A typed value is invalid. */
    wrong: fields.some((field) => drafts[field.name] !== undefined && problemOf(field, drafts[field.name]?.draft, undefined) !== undefined),
    busy,
    change,
    save,
    discard: forget,
    reset: (field: ConfigField) => {
      change(field, draftOf(field));
      return settle(
        client.call("config.reset", { id, fields: [field.name] }),
        field.source === "run" ? `${field.title} is no longer set for this run` : `${field.title} is its default again`,
      );
    },
    resetAll: () => {
      forget();
      return settle(client.call("config.reset", { id }), "All fields have their defaults again");
    },
  };
}
