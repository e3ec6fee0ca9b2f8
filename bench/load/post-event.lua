-- POST one completion event; device, outcome and language vary
local n = 0
local outcomes = { "accepted", "rejected", "ignored" }
local languages = { "typescript", "python", "go", "rust", "lua" }
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["X-Plugin-Version"] = "0.5.0"
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, string.format(
    '{"device_id":"0b6f3c1e-5d0a-4a53-9a0e-%012x","outcome":"%s","file_ext":".ts","language":"%s","prefix_length":15,"trimmed_prefix_length":13,'
    .. '"line_count":210,"relative_position":0.14,"after_cursor_ws":false,"last_char":")","last_nonws_char":")","indentation_level":8,'
    .. '"completion_lines":3,"completion_additions":3,"completion_deletions":0,"completion_source":"typing","manually_triggered":false,'
    .. '"provider":"remote-a","stage_index":0,"cursor_target_distance":12,"is_prefetched":false,"display_duration_ms":%d,'
    .. '"time_since_last_edit_ms":800,"typing_speed":4.2,"recent_actions":["IC","IC","DC"],"has_diagnostics":false,'
    .. '"treesitter_scope":"function","edit_count":%d,"predicted_edit_ratio":0.33,"completions_since_accept":3}',
    n * 7919 % 20000, outcomes[n % 3 + 1], languages[n % 5 + 1], n % 3000, n % 4096))
end
