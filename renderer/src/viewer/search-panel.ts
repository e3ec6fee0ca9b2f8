import { closeSearchPanel, findNext, findPrevious, getSearchQuery, SearchQuery, setSearchQuery } from "@codemirror/search";
import { type EditorView, type Panel, runScopeHandlers, type ViewUpdate } from "@codemirror/view";
import { formatCount } from "../ui/texts/quantity.ts";
import styles from "./search-panel.module.css";

/** More matches are not counted: the time grows with the text. */
const countedMatches = 1_000;

/** Search within one text: a field, how many matches, previous and next. */
export function createSearchPanel(view: EditorView): Panel {
  const field = document.createElement("input");
  field.className = styles.field ?? "";
  field.placeholder = "Find in this text";
  field.setAttribute("aria-label", "Find in this text");
  field.setAttribute("main-field", "true");
  field.value = getSearchQuery(view.state).search;
  const count = document.createElement("span");
  count.className = styles.count ?? "";
  count.setAttribute("role", "status");

  const refresh = () => {
    count.textContent = countText(view);
  };
  const dom = document.createElement("div");
  dom.className = styles.panel ?? "";
  dom.append(
    field,
    count,
    button("Previous match", "↑", () => findPrevious(view)),
    button("Next match", "↓", () => findNext(view)),
    button("Close the search (Esc)", "✕", () => closeSearchPanel(view)),
  );
  field.addEventListener("input", () => {
    const query = new SearchQuery({ search: field.value, literal: true });
    view.dispatch({ effects: setSearchQuery.of(query) });
    // Not findNext, which selects the text of the field: the next key would replace it.
    const first = query.valid ? query.getCursor(view.state).next() : undefined;
    if (first && !first.done)
      view.dispatch({ selection: { anchor: first.value.from, head: first.value.to }, scrollIntoView: true, userEvent: "select.search" });
  });
  dom.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === field) {
      event.preventDefault();
      (event.shiftKey ? findPrevious : findNext)(view);
    } else if (runScopeHandlers(view, event, "search-panel")) {
      event.preventDefault();
    }
  });
  return {
    dom,
    top: true,
    mount: () => {
      field.select();
      refresh();
    },
    update: (update: ViewUpdate) => {
      const query = update.transactions.flatMap(({ effects }) => effects).find((effect) => effect.is(setSearchQuery));
      if (query && query.value.search !== field.value) field.value = query.value.search;
      if (query || update.docChanged || update.selectionSet) refresh();
    },
  };
}

function button(label: string, text: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = styles.button ?? "";
  element.setAttribute("aria-label", label);
  element.title = label;
  element.textContent = text;
  element.addEventListener("click", act);
  return element;
}

/** "3 of 12" */
function countText({ state }: EditorView): string {
  const query = getSearchQuery(state);
  if (!query.valid) return "";
  const { from, to } = state.selection.main;
  let matches = 0;
  let current = 0;
  for (const cursor = query.getCursor(state); matches <= countedMatches; ) {
    const next = cursor.next();
    if (next.done) break;
    matches++;
    if (next.value.from === from && next.value.to === to) current = matches;
  }
  if (matches === 0) return "no match";
  const all = matches > countedMatches ? `over ${formatCount(countedMatches)}` : String(matches);
  return current > 0 ? `${current} of ${all}` : all;
}
