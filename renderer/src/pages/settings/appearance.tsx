import { type MantineColorScheme, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { schemes } from "../../app/scheme-menu.tsx";
import { SettingRow, SettingsSection } from "./setting-row.tsx";

export function Appearance() {
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
