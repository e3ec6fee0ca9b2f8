import { Autocomplete, Button, type OptionsFilter, Select, Textarea, Tooltip, UnstyledButton } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { tryMethods } from "../../../contract/http.ts";
import { StatusShape } from "../components/status-shape.tsx";
import { HeaderEditor } from "./header-editor.tsx";
import styles from "./http-try.module.css";
import { checkJson, methodOf, type TryRequest, takesBody } from "./try-request.ts";
import { routeOf, suggestedTargets, tryRoutes } from "./try-routes.ts";

interface TryFormProps {
  readonly request: TryRequest;
  /** By a change, not a value: choosing a suggestion makes two of them at once. */
  readonly onChange: (change: (request: TryRequest) => TryRequest) => void;
  readonly onSend: () => void;
  readonly running: boolean;
  readonly sending: boolean;
  /** Offers a few routes below the form. */
  readonly suggesting: boolean;
}

/** Within the page's landmarks, and not cut off by the column that scrolls. */
const inPlace = { withinPortal: false, floatingStrategy: "fixed" } as const;

/** A target that was chosen is no search: all are offered again. */
const all: OptionsFilter = ({ options }) => options;

const suggestions = tryRoutes.map(({ group, routes }) => ({ group, items: routes.map((route) => route.target) }));

export function TryForm({ request, onChange, onSend, running, sending, suggesting }: TryFormProps) {
  const set = (part: Partial<TryRequest>) => onChange((known) => ({ ...known, ...part }));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
  const takeRoute = (target: string) => {
    const route = routeOf(target);
    if (!route) return set({ target });
    const body = route.body !== undefined && request.body === "" ? route.body : request.body;
    const typed = request.headers.some(([name]) => name.toLowerCase() === "content-type");
    const headers =
      route.body !== undefined && !typed ? [["Content-Type", "application/json"] as const, ...request.headers] : request.headers;
    set({ method: methodOf(route.method), target, body, headers });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields.
    <div className={styles.form} onKeyDown={onKeyDown}>
      <div className={styles.line}>
        <Select
          aria-label="Method"
          className={styles.method}
          data={[...tryMethods]}
          value={request.method}
          allowDeselect={false}
          withCheckIcon={false}
          comboboxProps={{ ...inPlace, width: 120, position: "bottom-start" }}
          withScrollArea={false}
          onChange={(method) => set({ method: methodOf(method ?? "GET") })}
        />
        <Autocomplete
          aria-label="Path and query"
          className={styles.target}
          data={suggestions}
          value={request.target}
          limit={60}
          withScrollArea={false}
          styles={{ options: { maxHeight: 360, overflowY: "auto" }, option: { padding: "4px 10px" } }}
          comboboxProps={inPlace}
          spellCheck={false}
          filter={routeOf(request.target) && all}
          onChange={(target) => set({ target })}
          onOptionSubmit={takeRoute}
          renderOption={({ option }) => (
            <span className={styles.option}>
              {option.value}
              <span className={styles.optionMethod}>{routeOf(option.value)?.method}</span>
            </span>
          )}
        />
        <Tooltip label={running ? "Send (Ctrl Enter)" : "Start the service first"}>
          <Button
            variant="filled"
            w={86}
            loading={sending}
            data-disabled={!running}
            aria-disabled={!running}
            onClick={onSend}
            leftSection={<IconSend size={14} stroke={1.5} />}
          >
            Send
          </Button>
        </Tooltip>
      </div>
      <HeaderEditor headers={request.headers} onChange={(headers) => set({ headers })} />
      {takesBody(request.method) && <BodyEditor request={request} onBody={(body) => set({ body })} />}
      {suggesting && (
        <div className={styles.suggested}>
          {suggestedTargets.map((target) => (
            <UnstyledButton key={target} className={styles.chip} onClick={() => takeRoute(target)}>
              {`${routeOf(target)?.method ?? "GET"} ${target}`}
            </UnstyledButton>
          ))}
        </div>
      )}
    </div>
  );
}

function BodyEditor({ request, onBody }: { readonly request: TryRequest; readonly onBody: (body: string) => void }) {
  const check = checkJson(request);
  return (
    <section className={styles.section} aria-label="Body to send">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>Body</h2>
        <span className={styles.check} aria-live="polite">
          {check.state === "valid" && (
            <>
              <StatusShape shape="running" /> JSON
            </>
          )}
          {check.state === "invalid" && (
            <span className={styles.problem}>
              <StatusShape shape="failed" /> {check.problem}
            </span>
          )}
        </span>
        {check.state === "valid" && (
          <Button size="compact-xs" variant="subtle" onClick={() => onBody(JSON.stringify(JSON.parse(request.body), null, 2))}>
            Format
          </Button>
        )}
      </div>
      <Textarea
        aria-label="Body to send"
        className={styles.bodyInput}
        value={request.body}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        error={check.state === "invalid"}
        onChange={(event) => onBody(event.currentTarget.value)}
      />
    </section>
  );
}
