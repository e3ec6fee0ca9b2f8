import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import type { ConfigField } from "../../../../contract/config.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import { useService, useStore } from "../../control/use-store.ts";
import { useConfirm } from "../../ui/forms/confirm.tsx";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { NoRows } from "../../ui/status/empty-state.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { Toolbar } from "../../ui/toolbar.tsx";
import { ConfigFieldRow } from "./config-field-row.tsx";
import styles from "./config-tab.module.css";
import { askedField, fieldInputId } from "./draft.ts";
import { useConfigForm } from "./use-config-form.ts";

const matches = (field: ConfigField, text: string) =>
  `${field.title} ${field.name} ${field.help} ${field.env.join(" ")} ${field.flag} ${field.group}`
    .toLowerCase()
    .includes(text.toLowerCase());

/** A service's configuration, rendered from its schema. */
export function ConfigTab({ id }: { id: ServiceId }) {
  const form = useConfigForm(id);
  const title = useService(id)?.title ?? "";
  const confirm = useConfirm();
  const [text, setText] = useState("");
  const fields = form.answer.value?.fields;
  const shown = (fields ?? []).filter((field) => matches(field, text));
  const groups = [...new Set(shown.map((field) => field.group))];
  const changes = Object.keys(form.drafts).length;

  const asked = useStore(askedField);
  useEffect(() => {
    if (asked?.id !== id || !fields) return;
    if (text !== "") return setText("");
    const input = document.getElementById(fieldInputId(id, asked.name));
    input?.scrollIntoView({ block: "center" });
    input?.focus({ preventScroll: true });
    askedField.set(undefined);
  }, [asked, id, text, fields]);

  const resetAll = async () => {
    const yes = await confirm({
      title: `Reset the configuration of ${title}?`,
      text: "All values saved for it in this profile are removed. Values set by the environment or a flag stay.",
      action: `Reset ${title}`,
    });
    if (yes) await form.resetAll();
  };

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void form.save();
      }}
    >
      <Toolbar label="Settings">
        <FilterInput value={text} onChange={setText} placeholder="Filter fields, variables, flags" />
        <span className={styles.changes} role="status">
          {changes > 0 && `${formatCountOf(changes, "change")} not saved`}
        </span>
        <Button onClick={resetAll} disabled={form.busy || !fields?.some((field) => field.stored !== undefined)}>
          Reset all…
        </Button>
        <Button onClick={form.discard} disabled={changes === 0 || form.busy}>
          Discard
        </Button>
        <Button type="submit" variant={changes > 0 ? "filled" : "default"} disabled={changes === 0 || form.wrong} loading={form.busy}>
          Save
        </Button>
      </Toolbar>
      <RestartBar id={id} />
      <div className={styles.fields}>
        <Answered answer={form.answer} what="the configuration">
          {() =>
            shown.length === 0 ? (
              <NoRows text="No field matches the filter." action="Show all" onAction={() => setText("")} />
            ) : (
              groups.map((group) => (
                <section key={group} className={styles.group} aria-label={group}>
                  <h2 className={styles.heading}>{group}</h2>
                  {shown
                    .filter((field) => field.group === group)
                    .map((field) => (
                      <ConfigFieldRow
                        key={field.name}
                        inputId={fieldInputId(id, field.name)}
                        field={field}
                        edited={form.drafts[field.name]}
                        problem={form.problemOf(field)}
                        onChange={(draft) => form.change(field, draft)}
                        onReset={() => (field.source === "run" ? void form.endRun(field) : form.reset(field))}
                      />
                    ))}
                </section>
              ))
            )
          }
        </Answered>
      </div>
    </form>
  );
}

/** Shown while the running service differs from what is saved. */
function RestartBar({ id }: { id: ServiceId }) {
  const service = useService(id);
  const { restart, pending } = useServiceOperations();
  if (!service?.restartNeeded || service.status.state !== "running") return null;
  return (
    <div className={styles.restart} role="status">
      <StatusShape shape="warning" />
      <strong>{service.title} still runs with the old values.</strong>
      <span className={styles.quiet}>A restart closes its connections.</span>
      <Button type="button" loading={pending === "restart"} onClick={() => restart(id)}>
        Restart now
      </Button>
    </div>
  );
}
