import { useCallback, useState } from "react";
import type { ConfigField, ConfigView } from "../../../../contract/config.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { useConfig } from "../../control/use-config.ts";
import { useProfiles, useService, useStore } from "../../control/use-store.ts";
import { notifyDone, notifyFailure } from "../../ui/status/notify.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { configDrafts, type Draft, draftOf, type EditedField, parseDraft, problemOf, resetOf } from "./draft.ts";

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

  const edit = useCallback(
    (field: ConfigField, edited: EditedField | undefined) => {
      setRefused(({ [field.name]: _, ...others }) => others);
      const { [field.name]: _, ...others } = draftStore.latest();
      draftStore.set(edited === undefined ? others : { ...others, [field.name]: edited });
    },
    [draftStore],
  );
  const change = (field: ConfigField, draft: Draft) => {
    const over = draftStore.latest()[field.name]?.over ?? draftOf(field);
    edit(field, draft === draftOf(field) ? undefined : { draft, over });
  };
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
    const resets: string[] = [];
    for (const field of view?.fields ?? []) {
      const edited = drafts[field.name];
      if (edited === undefined) continue;
      if (edited.resets) {
        resets.push(field.name);
        continue;
      }
      const parsed = parseDraft(field, edited.draft);
      // The problem is already shown at the field; Enter still submits.
      if ("problem" in parsed) return;
      values[field.name] = parsed.value;
    }
    setRefused({});
    const count = Object.keys(values).length + resets.length;
    await settle(
      client.call("config.write", { id, values, resets }).then((next) => {
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
    problemOf: (field: ConfigField) => problemOf(field, drafts[field.name], refused[field.name]),
    /** A typed value is invalid. */
    wrong: fields.some((field) => drafts[field.name] !== undefined && problemOf(field, drafts[field.name], undefined) !== undefined),
    busy,
    change,
    save,
    discard: forget,
    /** Back to the default, when it is saved. */
    reset: (field: ConfigField) => edit(field, field.stored === undefined ? undefined : resetOf(field)),
    /** The value of this run is not a saved one: it ends at once. */
    endRun: (field: ConfigField) =>
      settle(client.call("config.reset", { id, fields: [field.name] }), `${field.title} is no longer set for this run`),
    resetAll: () => {
      forget();
      return settle(client.call("config.reset", { id }), "All fields have their defaults again");
    },
  };
}
