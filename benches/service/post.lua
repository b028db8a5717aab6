-- wrk asks by POST.
wrk.method = "POST"
