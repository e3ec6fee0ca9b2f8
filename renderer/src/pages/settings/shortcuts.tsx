import { Kbd } from "@mantine/core";
import { shortcuts } from "../../ui/commands.ts";
import { SettingRow, SettingsSection } from "./setting-row.tsx";
import { settingTexts } from "./setting-texts.ts";
import styles from "./settings-page.module.css";

export function Shortcuts() {
  return (
    <SettingsSection title={settingTexts.shortcuts.label}>
      {Object.values(shortcuts).map(({ what, keys }) => (
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
