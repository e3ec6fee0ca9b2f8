import { Kbd, type MantineColorScheme, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import type { ComponentType } from "react";
import { schemes } from "../../app/scheme-menu.tsx";
import { shortcuts } from "../../ui/commands.ts";
import { PageTitle } from "../../ui/panel.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { About } from "./about.tsx";
import { Certificates } from "./certificates.tsx";
import { ProgramSettings } from "./program-settings.tsx";
import { SettingRow, SettingsSection, settingTexts } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

const columns: readonly (readonly { readonly region: string; readonly Panel: ComponentType }[])[] = [
  [
    { region: "appearance", Panel: Appearance },
    { region: "program", Panel: ProgramSettings },
    { region: "certificates", Panel: Certificates },
  ],
  [
    { region: "about", Panel: About },
    { region: "keyboard", Panel: Shortcuts },
  ],
];

export function SettingsPage() {
  return (
    <div className={styles.page}>
      <PageTitle className={styles.title}>Settings</PageTitle>
      <div className={styles.columns}>
        {columns.map((panels) => (
          <div key={panels[0]?.region}>
            {panels.map(({ region, Panel }) => (
              <Boundary key={region} region={`settings: ${region}`} line>
                <Panel />
              </Boundary>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function Shortcuts() {
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

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SettingsSection title="Appearance">
      <SettingRow label="Colour scheme">
        <SegmentedControl
          aria-label="Colour scheme"
          data={schemes.map(({ value, title }) => ({ value, label: title }))}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
        />
      </SettingRow>
    </SettingsSection>
  );
}
