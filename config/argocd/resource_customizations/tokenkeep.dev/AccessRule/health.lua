-- The health of a resource of Tokenkeep, from the fields that kstatus (Flux, helm --wait) reads too.
local function health(status, message)
  return { status = status, message = message }
end

if obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "Being deleted")
end
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health("Progressing", "Waiting for the operator to see the last change")
end

local found = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  found[condition.type] = condition
end

-- The first that holds decides. A resource that is paused keeps the conditions that were last found.
local verdicts = {
  { type = "Paused", health = "Suspended" },
  { type = "Reconciling", health = "Progressing" },
  { type = "Stalled", health = "Degraded" },
  { type = "Ready", health = "Healthy" },
}
for _, verdict in ipairs(verdicts) do
  local condition = found[verdict.type]
  if condition ~= nil and condition.status == "True" then
    return health(verdict.health, condition.message)
  end
end
return health("Progressing", found.Ready and found.Ready.message or "Waiting for the operator")
