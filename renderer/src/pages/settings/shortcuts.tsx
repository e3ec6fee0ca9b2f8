import { Kbd } from "@mantine/core";
import { modKey } from "../../app/mod-key.ts";
import { SettingRow, SettingsSection } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

const shortcuts: readonly (readonly [what: string, keys: readonly string[]])[] = [
  ["Find a service, an action or a setting", [modKey, "K"]],
  ["Open and close the logs", [modKey, "J"]],
  ["Go to the page’s filter", ["/"]],
  ["Empty the filter, then leave it; close the inspector", ["Esc"]],
  ["Pause and resume the list", ["Space"]],
  ["Walk through a list", ["↑", "↓"]],
  ["First and last of a list", ["Home", "End"]],
  ["Open the chosen row", ["Enter"]],
];

export function Shortcuts() {
  return (
    <SettingsSection title="Keyboard">
      {shortcuts.map(([what, keys]) => (
        <SettingRow key={what} label={what}>
          <span className={styles.keys}>
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </span>
        </SettingRow>
      ))}
    </SettingsSection>
  );
}
