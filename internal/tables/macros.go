package tables

// macros defines views and macros of DuckDB on top of the tables. They are few and general: logic for one question
// belongs in its query.
const macros = `-- The frames of each stack, one row per frame; the innermost frame has position 1.
CREATE OR REPLACE VIEW stack_frames AS
  SELECT s.trace, s.stack_id, s.process_id, s.position, s.frame_id, f.* EXCLUDE (trace, frame_id)
  FROM (SELECT trace, stack_id, process_id, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS position FROM stacks) s
  JOIN frames f ON f.trace = s.trace AND f.frame_id = s.frame_id;

-- Each stack as one line, outermost frame first, as in folded stacks.
CREATE OR REPLACE VIEW stack_text AS
  SELECT trace, stack_id, string_agg(name, ';' ORDER BY position DESC) AS stack FROM stack_frames GROUP BY trace, stack_id;

-- The innermost function of each stack that belongs to the program: managed, and not in a module of .NET. Without a module, the
-- namespace decides.
CREATE OR REPLACE VIEW own_functions AS
  SELECT trace, stack_id, arg_min(name, position) AS function
  FROM stack_frames
  WHERE kind = 'managed' AND NOT regexp_matches(coalesce(module, name), '^(System|Microsoft)\.')
  GROUP BY trace, stack_id;

-- The functions on the stack of each sample: one row per sample and function, even if the function occurs several times.
-- leaf is true if the function itself ran (or waited), not a callee.
CREATE OR REPLACE VIEW sample_functions AS
  SELECT s.*, f.* EXCLUDE (trace, stack_id)
  FROM samples s JOIN (
    SELECT trace, stack_id, name, min(namespace) AS namespace, min(module) AS module, min(position) = 1 AS leaf
    FROM stack_frames GROUP BY trace, stack_id, name
  ) f ON f.trace = s.trace AND f.stack_id = s.stack_id;

-- The weight of each function itself (self) and including its callees (total), in the unit of the samples: FROM methods('wall').
-- A function that occurs several times on a stack counts once. Kinds of profiles with the same sample type have rows of their
-- own. This is faster than aggregating sample_functions.
CREATE OR REPLACE MACRO methods(type) AS TABLE
  WITH weights AS (
    SELECT trace, kind, stack_id, sum(value)::BIGINT AS value FROM samples WHERE sample_type = type GROUP BY ALL
  ), functions AS (
    SELECT trace, stack_id, name, min(module) AS module, min(position) = 1 AS leaf FROM stack_frames GROUP BY trace, stack_id, name
  ), sums AS (
    SELECT trace, kind, sum(value) AS everything FROM weights GROUP BY ALL
  )
  SELECT trace, kind, name, min(module) AS module,
    coalesce(sum(value) FILTER (leaf), 0)::BIGINT AS self, sum(value)::BIGINT AS total,
    coalesce(sum(value) FILTER (leaf), 0) / min(everything) AS self_share, sum(value) / min(everything) AS total_share
  FROM weights JOIN functions USING (trace, stack_id) JOIN sums USING (trace, kind) GROUP BY trace, kind, name;
`
