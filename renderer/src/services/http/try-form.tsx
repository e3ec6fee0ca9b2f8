import { Autocomplete, type OptionsFilter, Select, UnstyledButton } from "@mantine/core";
import { tryMethods } from "../../../../contract/services/http.ts";
import { HeaderEditor } from "../try/header-editor.tsx";
import { JsonBodyField } from "../try/json-body-field.tsx";
import { SendButton } from "../try/send-button.tsx";
import styles from "../try/try-page.module.css";
import { checkJson, methodOf, type TryRequest, takesBody } from "../try/try-request.ts";
import { routeOf, suggestedTargets, tryRoutes } from "./try-routes.ts";

interface TryFormProps {
  readonly request: TryRequest;
  /** Takes an update function, because choosing a suggestion makes two changes in one event. */
  readonly onChange: (change: (request: TryRequest) => TryRequest) => void;
  readonly onSend: () => void;
  readonly running: boolean;
  readonly sending: boolean;
  /** Offers a few routes below the form. */
  readonly suggesting: boolean;
}

/** Within the page's landmarks, and not clipped by the scrolling column. */
const inPlace = { withinPortal: false, floatingStrategy: "fixed" } as const;

/** After a choice the text is not a search: all routes are offered again. */
const all: OptionsFilter = ({ options }) => options;

const suggestions = tryRoutes.map(({ group, routes }) => ({ group, items: routes.map((route) => route.target) }));

export function TryForm({ request, onChange, onSend, running, sending, suggesting }: TryFormProps) {
  const set = (part: Partial<TryRequest>) => onChange((known) => ({ ...known, ...part }));
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
    <div className={styles.form}>
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
        <SendButton running={running} sending={sending} onSend={onSend} />
      </div>
      <HeaderEditor headers={request.headers} onChange={(headers) => set({ headers })} />
      {takesBody(request.method) && (
        <section className={styles.section} aria-label="Body to send">
          <JsonBodyField
            title="Body"
            label="Body to send"
            value={request.body}
            check={checkJson(request)}
            rows={{ least: 4, most: 14 }}
            onChange={(body) => set({ body })}
          />
        </section>
      )}
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
