import type { Message, Key } from '../words.ts'

/** Arabic. */
const ar: Record<Key, Message> = {
  panel: 'خوادم MCP', view_servers: 'الخوادم', view_tools: 'الأدوات', view_activity: 'النشاط',
  connected_of: '{n} من {total} متصل', tokens: { one: '≈ رمز واحد', two: '≈ رمزان', few: '≈ {n} رموز', other: '≈ {n} رمزًا' },
  close: 'إغلاق', cancel: 'إلغاء', save: 'حفظ', undo: 'تراجع', dismiss: 'إخفاء', copy: 'نسخ', copied: 'تم النسخ.', details: 'التفاصيل', show: 'عرض', name: 'الاسم', type: 'النوع', description: 'الوصف', required: 'مطلوب', optional: 'اختياري',
  server: 'الخادم', url: 'العنوان', export: 'تصدير', clear: 'مسح', pause: 'إيقاف مؤقت', save_file: 'حفظ الملف', show_rest: 'عرض {n} أخرى',

  empty_title: 'لا خوادم على الخريطة بعد', empty_text: 'أضف خادمًا بعنوانه أعلاه، أو استخدم العرض المدمج، أو تصفّح الفهرس العام.',
  add_demo: 'إضافة العرض المدمج', browse: 'تصفّح الفهرس',

  add_server: 'إضافة خادم', add_help: 'عنوان أو mcp.json أو server.json أو رابط تثبيت أو أمر ‎“claude mcp add …”‎ أو curl. يمكن إفلات الملفات هنا.',
  read_as: 'قُرئ على أنه {what}. الخوادم: {n}.', at_line: 'السطر {n}، العمود {column}.',
  kind_url: 'عنوان', 'kind_mcp-json': 'mcp.json', kind_vscode: 'إعدادات VS Code', kind_continue: 'إعدادات Continue', 'kind_server-json': 'server.json', 'kind_install-link': 'رابط تثبيت', 'kind_claude-command': 'سطر أوامر', kind_curl: 'أمر curl', kind_unknown: 'غير معروف',
  problem_too_large: 'هذا أطول من أن يكون إعدادات.', problem_too_many: 'تُقرأ أول {n} خوادم فقط.', problem_no_servers: 'لا يصف هذا أي خادم.',
  problem_bad_link: 'رابط التثبيت تالف: انسخه كاملًا.', problem_open_quote: 'علامة اقتباس غير مغلقة.', problem_no_url: 'لا عنوان في هذا الأمر.', problem_not_recognized: 'ليس هذا عنوانًا أو إعدادات تعرفها Portolan.',
  problem_yaml: 'يبدو هذا YAML. الصقه بصيغة JSON أو الصق العنوان فقط.', problem_toml: 'يبدو هذا TOML. الصق العنوان فقط.',
problem_json_unexpected: 'JSON غير سليم: شيء غير متوقع.', problem_json_unclosed: 'JSON غير سليم: شيء لم يُغلق.', problem_json_string: 'JSON غير سليم: نص تالف.', problem_json_quotes: 'يريد JSON علامات اقتباس مزدوجة مستقيمة.', problem_json_depth: 'التداخل في JSON أعمق مما يُقبل.', problem_json_rest: 'يتبع نهاية JSON شيء آخر.',
  add_servers: { one: 'إضافة الخادم', other: 'إضافة الخوادم ({n})' }, added: 'أُضيف: {names}.', and_more: 'و{n} أخرى', take: 'إضافة {name}', name_taken: 'الاسم مستخدم', clash_rename: 'إضافة باسم آخر', clash_overwrite: 'استبدال', clash_skip: 'تخطٍّ',
  local_process: 'برنامج محلي', stdio_why: 'لا تستطيع صفحة الويب تشغيل البرامج. يُشغَّل هذا هكذا:', stdio_how: 'شغّله خلف جسر HTTP مثل supergateway ثم أضف عنوان الجسر، أو ابحث هل يوفّره صانعه خادمًا بعيدًا.',
  secrets_found: 'أسرار في {names}، محفوظة بعيدًا عن الأنظار', default_is: 'الافتراضي: {value}',
  level_error: 'لن يعمل:', level_warning: 'انتبه:', level_info: 'ملاحظة:',

  lint_websocket: 'عناوين WebSocket ليست نقلًا لبروتوكول MCP في الصفحات. استخدم عنوان https.', lint_bad_url: 'هذا ليس عنوانًا.', lint_no_url: 'لا يوجد عنوان.', lint_http_public_host: 'http إلى {host} غير مشفّر. استخدم https.', lint_localhost_from_public: '{host} هو هذا الحاسوب. قد يسأل متصفحك قبل أن تصل إليه صفحة من {page}.', lint_private_address: '{host} في شبكة خاصة. قد يسأل متصفحك قبل الوصول إليه.',
  lint_secret_in_url: 'في العنوان سر ({where}). تنتهي العناوين في السجلات: استخدم ترويسة.', lint_placeholder_left: 'ما زال في {where} نص مؤقت.', lint_inspector_proxy_url: 'هذا وكيل MCP Inspector نفسه. أضف الخادم الذي خلفه.', lint_path_is_docs: 'يبدو هذا صفحة للقراءة لا نقطة اتصال.', lint_path_looks_like_homepage: 'المسار فارغ. غالبًا ما تنتهي النقاط بـ ‎/mcp‎ أو ‎/sse‎.', lint_transport_mismatch: 'المسار {path} لا يوافق النقل {transport}.',
  lint_empty_bearer: 'تقول {header} ‏Bearer ولا يتبعها رمز.', lint_empty_header: '{header} فارغة.', lint_bearer_missing_scheme: 'لا مخطط في {header}. تريد معظم الخوادم ‎“Bearer ”‎ قبل الرمز.', lint_invalid_header_value: 'في {header} محارف لا تحملها الترويسات.', lint_invalid_header_name: '{header} ليس اسم ترويسة؛ يُترك.', lint_forbidden_header: 'لا تدع المتصفحات الصفحات تضبط {header}؛ تُترك.', lint_header_too_long: '{header} طويلة جدًا؛ تُترك.', lint_trailing_space: 'أُزيلت مسافات حول {header}.', lint_duplicate_header: '{header} مذكورة مرتين؛ تُحسب الأخيرة.',
  lint_disabled: 'هو مغلق في هذه الإعدادات ويُضاف كذلك.', lint_ignored_field: 'الحقل {field} لا معنى له هنا.', lint_unknown_transport: 'النقل {transport} غير معروف؛ سيُكتشف.', lint_wrapped_remote: '{wrapper} يمرّر فقط إلى هذا الخادم، فيُضاف الخادم نفسه.',

  standing_connected: 'متصل', standing_connected_in: 'متصل · {time}', standing_connecting: 'يتصل…', standing_sign_in: 'يلزم تسجيل الدخول', standing_paused: 'متوقف مؤقتًا', standing_paused_until: 'متوقف بعد {n} إخفاقات · المحاولة خلال {time}', standing_cors: 'يمنعه CORS', standing_local_network: 'يلزم إذن الشبكة المحلية', standing_failed: 'لا يعمل', standing_idle: 'لم يتصل بعد', standing_off: 'مغلق',
  latency_trend: 'زمن الاستجابة: الأخير {last}، الوسيط {median}', contacts: 'أخفق {failed} من آخر {n} اتصالات',
  use_server: 'استخدام {name}', menu_of: 'المزيد عن {name}', retry: 'إعادة المحاولة الآن', edit: 'تعديل…', clone: 'استنساخ…', copy_config: 'نسخ الإعدادات', remove: 'إزالة', removed: 'أُزيل {name}.',
  transport_http: 'HTTP متدفق', transport_sse: 'HTTP+SSE', transport_auto: 'يُكتشف النقل تلقائيًا', through_proxy: 'عبر الوكيل', tools_of: '{n} من {total} أداة', claimed: 'ما يسمّي الخادم نفسه به',
  warnings: 'ملاحظات على قائمة الأدوات: {n}',

  held: { one: 'أداة واحدة محجوزة.', two: 'أداتان محجوزتان.', few: '{n} أدوات محجوزة.', many: '{n} أداة محجوزة.', other: '{n} أداة محجوزة.' }, held_why: 'لم يوافق أحد على ما يقوله الخادم عنها الآن. لا تراها النماذج حتى توافق.', review: 'مراجعة…',
  review_title: 'أدوات متغيّرة من', review_why: 'هذا ما يريد الخادم أن يُستدعى من الآن. وافق على ما كنت ستضيفه بنفسك.', review_done: 'لم يعد هناك شيء محجوز.', review_later: 'ليس الآن', approve: 'موافقة', approve_all: { one: 'الموافقة على {n}', two: 'الموافقة على الاثنتين', few: 'الموافقة على الـ{n} كلها', many: 'الموافقة على الـ{n} كلها', other: 'الموافقة على الـ{n} كلها' },
  held_changed: 'تختلف عمّا تمت الموافقة عليه.', held_new: 'لم تكن موجودة من قبل.', held_renamed: 'كان اسمها {from}.', held_before_unknown: 'لم يعد ما تمت الموافقة عليه محفوظًا. الأجزاء المختلفة: {parts}.',
  part_name: 'الاسم', part_title: 'العنوان', part_description: 'الوصف', part_inputSchema: 'المعاملات', part_outputSchema: 'النتيجة', part_annotations: 'الادعاءات', part__meta: 'واجهة المستخدم',
  trust: 'الثقة', 'trust_ask-on-change': 'السؤال عند تغيّر أداة', 'trust_ask-on-change_means': 'تؤخذ القائمة الأولى كما هي. تُحجز التغييرات اللاحقة حتى توافق عليها.', 'trust_ask-always': 'السؤال عن كل شيء', 'trust_ask-always_means': 'تُحجز كل أداة حتى توافق عليها، ويُسأل عن كل استدعاء حيث تسأل هذه الصفحة.', trust_trust: 'الوثوق به', trust_trust_means: 'لا يُحجز شيء، ويُصدَّق ما يدّعيه الخادم عن أدواته.', hold_new: 'حجز الأدوات الجديدة أيضًا', remembered: { one: 'يُتذكَّر جواب واحد عن استدعاءاته.', two: 'يُتذكَّر جوابان عن استدعاءاته.', few: 'تُتذكَّر {n} أجوبة عن استدعاءاته.', many: 'يُتذكَّر {n} جوابًا عن استدعاءاته.', other: 'يُتذكَّر {n} جواب عن استدعاءاته.' }, forget_answers: 'نسيان',
  approve_title: 'هل يجوز للنموذج فعل هذا؟', approve_why: 'يريد النموذج استدعاء', approve_more: { one: 'استدعاء آخر ينتظر.', two: 'استدعاءان آخران ينتظران.', few: '{n} استدعاءات أخرى تنتظر.', many: '{n} استدعاءً آخر ينتظر.', other: '{n} استدعاء آخر ينتظر.' }, approval_once: 'السماح مرة', approval_always: 'السماح دائمًا', approval_deny: 'رفض', approval_never: 'عدم السماح أبدًا', approval_bound: 'يسري «دائمًا» و«أبدًا» على هذه الأداة من هذا الخادم كما هي الآن. إن تغيّرت فستُسأل من جديد.',

  cause_cors: 'لا يسمح الخادم لصفحات الويب.', cause_cors_why: 'يجيب {host} بلا ترويسات CORS للمصدر {origin}. يمكن المرور عبر الوكيل بدلًا من ذلك.',
  cause_dns: 'لا وجود لهذا المضيف.', cause_dns_why: 'تعذّر العثور على {host}. تحقّق من كتابة العنوان.',
  cause_tls: 'الاتصال غير آمن.', cause_tls_why: 'شهادة {host} مرفوضة، فلم يُرسل شيء.',
  cause_down: 'الخادم متوقف.', cause_down_why: 'لا يقبل {host} اتصالات على هذا العنوان.',
  cause_timeout: 'الخادم بطيء جدًا.', cause_timeout_why: 'لم يجب {host} في الوقت المحدد.',
  cause_path: 'لا توجد نقطة MCP على هذا العنوان.', cause_path_why: '{host} موجود، لكن ليس على هذا المسار. غالبًا ما ينتهي بـ ‎/mcp‎ أو ‎/sse‎.',
  cause_local_network: 'متصفحك يحرس الشبكة المحلية.', cause_local_network_why: 'للوصول إلى {host} اسمح للمصدر {origin} بالاتصال بأجهزة شبكتك حين يسأل المتصفح أو في إعدادات الموقع.',
  cause_sign_in: 'يريد الخادم أن تسجّل الدخول.', cause_sign_in_why: 'يسأل {host} من أنت. ستُفتح نافذة لصفحة تسجيل الدخول.', cause_sign_in_at: 'يسأل {host} من أنت. ستُفتح نافذة {at}: تابع فقط إن كان لديك حساب هناك.',
  signing_in: 'في انتظار تسجيل دخولك…', signing_in_why: 'أكمل في نافذة {at}. إن لم تعد هناك نافذة فافتحها من جديد، وقد يلزم السماح لهذه الصفحة بفتح النوافذ.', open_again: 'فتح من جديد', signed_in: 'مسجَّل الدخول', sign_out: 'تسجيل الخروج',
  cause_credentials: 'يريد الخادم أن يعرفك.', cause_credentials_why: 'يطلب {host} بيانات دخول. أضف ترويسة Authorization.',
  cause_forbidden: 'الخادم يرفض.', cause_forbidden_why: 'لا يقبل {host} بيانات الدخول هذه أو الطلبات من {origin}.',
  cause_proxy: 'الوكيل يرفض.', cause_proxy_why: 'لا يمرّر الطلبات إلى {host} للمصدر {origin}. يستطيع مشغّله السماح بها، أو جرّب من دونه.',
  cause_server: 'في الخادم عطل.', cause_server_why: 'يجيب {host}، لكن بخطأ.',
  cause_rate: 'طلبات كثيرة جدًا.', cause_rate_why: 'يطلب {host} التمهّل.',
  cause_protocol: 'هذا لا يتكلم MCP.', cause_protocol_why: 'يجيب {host} بشيء آخر. تحقّق من المسار.',
  cause_redirect: 'الخادم يحيل إلى مكان آخر.', cause_redirect_why: 'يعيد {host} التوجيه. لا يتبعه Portolan لأن بياناتك ستذهب معه. إن كنت تثق بالوجهة فأدخل عنوانها.',
  cause_config: 'لا يمكن استخدام الإعدادات.', cause_config_why: 'يُرجى تصحيحها.',
  cause_crash: 'اضطرت Portolan إلى البدء من جديد.', cause_crash_why: 'توقفت وحدتها. ضاع ما كان جاريًا، وبقيت إعداداتك.',
  cause_network: 'لم يصل جواب.', cause_network_why: 'ربما {host} متوقف، أو لا يسمح لصفحات الويب (CORS). لا يقول المتصفح أيهما، ويستطيع الوكيل معرفة ذلك.',
  cause_other: 'حدث خطأ ما.', cause_other_why: 'السبب في التفاصيل.',
  fix_retry: 'حاول مجددًا', fix_edit: 'تعديل', fix_sign_in: 'تسجيل الدخول', fix_credentials: 'إضافة بيانات الدخول', fix_proxy: 'المرور عبر الوكيل', fix_ask_proxy: 'معرفة السبب', fix_direct: 'المحاولة من دون الوكيل', copy_for_owner: 'نسخ رسالة لصاحب الخادم',

  edit_title: 'تعديل', headers: 'الترويسات', headers_to: 'تُرسل إلى {host} مع كل طلب، ولا إلى غيره.', header_n: 'الترويسة {n}', header_name: 'الاسم', header_value: 'القيمة', header_kept: 'محفوظة ولا تُعرض', replace: 'استبدال', reveal: 'إظهار', reveal_held: 'إظهار ما دام مضغوطًا', add_header: 'إضافة ترويسة', add_authorization: 'إضافة Authorization', remove_header: 'إزالة الترويسة {name}',
  auth: 'تسجيل الدخول', auth_help: 'لا حاجة إليه إلا إذا أعطاك مشغّل الخادم هذه البيانات.', client_id: 'معرّف العميل', client_secret: 'سر العميل', scopes: 'النطاقات، مفصولة بمسافات',
  moved: 'قيم الترويسات المحفوظة تخص {host} وتُحذف مع هذا العنوان.',
  proxy: 'وكيل CORS', proxy_off: 'مغلق', proxy_off_means: 'تذهب الطلبات إلى الخادم مباشرة.', proxy_auto: 'تلقائي', proxy_auto_means: 'مباشرة، وعبر الوكيل حيث لا يسمح الخادم للصفحات ولا تُرسل ترويسات.', proxy_on: 'مفعّل', proxy_on_means: 'يمر كل شيء عبر الوكيل، مع الترويسات.',
  advanced: 'متقدم', transport: 'النقل', timeout_s: 'المهلة بالثواني', timeout_help: 'للاتصال ولسرد الأدوات. فارغ: القيمة الافتراضية.',

  search_tools: 'البحث في الأدوات', show_all: 'الكل', show_on: 'المعروضة', show_off: 'غير المعروضة', show_flagged: 'المعلَّمة', found: 'الأدوات: {n}', no_match: 'لا شيء يطابق.', no_tools: 'تظهر أدوات خوادمك هنا.',
  all_tools_of: 'كل أدوات {name}', offer: 'عرض {name} على النماذج', weighing: 'تُقدَّر كلفة الأدوات…',
  budget: 'الميزانية بالرموز', budget_meter: 'الرموز التي تستهلكها الأدوات', budget_used: 'تأخذ الأدوات نحو {n} رمزًا من كل طلب.', budget_used_of: 'تأخذ الأدوات نحو {n} من {budget} رمزًا.', fit_text: 'لتتسع الميزانية أوقف ({n}):', fit: 'إيقاف الأدوات ({n})',
  flag_changed: 'تغيّرت', flag_duplicate: 'مكررة', flag_suspicious: 'نص مريب', flags_title: 'علامات',
  flag_duplicate_same_name: 'لخادم آخر أداة بهذا الاسم:', flag_duplicate_similar_name: 'يشبه الاسم اسم أداة لخادم آخر:', flag_duplicate_same_description: 'الوصف هو وصف أداة لخادم آخر:',
  flag_suspicious_hidden_text: 'نص لا يراه الناس وتقرأه النماذج:', flag_suspicious_lookalike: 'حروف تشبه غيرها:', flag_suspicious_override: 'يطلب من النموذج تجاهل التعليمات:', flag_suspicious_concealment: 'يطلب من النموذج إخفاء أمور عنك:', flag_suspicious_pseudo_tag: 'يقدّم نصًا كأنه من النظام:', flag_suspicious_sensitive_path: 'يتحدث عن ملفات فيها أسرار:', flag_suspicious_exfiltration: 'قد يُخرج بيانات:', flag_suspicious_data_url: 'عنوان قد تذهب معه بيانات:', flag_suspicious_parameter: 'معامل يطلب أكثر مما ينبغي:', flag_suspicious_shadowing: 'يتدخل في أداة لخادم آخر:', flag_suspicious_blob: 'نص لا يقرؤه إلا الآلات:', flag_suspicious_else: 'يشبه السم:',
  flag_changed_name: 'تغيّر عنوانها منذ فتح اللوحة.', flag_changed_description: 'تغيّر وصفها منذ فتح اللوحة.', flag_changed_schema: 'تغيّرت معاملاتها منذ فتح اللوحة.', flag_changed_annotations: 'تغيّرت ادعاءاتها منذ فتح اللوحة.',

  tool_views: 'عروض الأداة', tool_about: 'ما تراه النماذج', tool_try: 'تجربة', tool_gone: 'لم تعد هذه الأداة موجودة.', withheld: 'لا تُعرض على النماذج', no_description: 'بلا وصف.', no_parameters: 'بلا معاملات.', parameters: 'المعاملات', claims: 'يدّعي الخادم:', seen_as: 'كما يراها', not_seen: 'لا ترى النماذج هذه الأداة ما دامت موقوفة.', as_listed: 'كما يسردها الخادم',
  dialect_openai: 'OpenAI', 'dialect_openai-responses': 'OpenAI Responses', dialect_anthropic: 'Anthropic', dialect_gemini: 'Gemini',
  readOnlyHint_true: 'تقرأ فقط', readOnlyHint_false: 'قد تغيّر أشياء', destructiveHint_true: 'قد تتلف', destructiveHint_false: 'لا تتلف شيئًا', idempotentHint_true: 'تكرارها آمن', idempotentHint_false: 'تكرارها غير آمن', openWorldHint_true: 'تصل إلى العالم الخارجي', openWorldHint_false: 'تبقى في الداخل',

  arguments: 'المعطيات', edit_as: 'طريقة الإدخال', as_json: 'بصيغة JSON', as_form: 'استمارة', call: 'استدعاء الأداة', calling: 'يُستدعى…', progress: 'التقدم', copy_ts: 'نسخ بلغة TypeScript', copy_curl: 'نسخ أمر curl', off_try: 'شغّل الأداة لتجربتها.', choose: 'اختر…', none: 'لا شيء', add_item: 'إضافة عنصر', remove_item: 'إزالة العنصر {n}', item_n: 'العنصر {n}', variant: 'النوع', json_here: 'يُعدَّل بصيغة JSON لأن الاستمارة قد تُسقط شيئًا.', set_field: 'إعطاء {name}',
  no_form_json: 'هذا ليس JSON سليمًا بعد.', no_form_big_number: 'في رقم خانات أكثر مما تحفظه الاستمارة.', no_form_type: 'قيمة من نوع غير نوع الاستمارة.', no_form_unknown_member: 'يوجد عضو لا تعرفه الاستمارة.', no_form_no_option: 'قيمة ليست من الخيارات.',
  field_required: 'يُرجى ملء هذا.', field_not_a_number: 'هذا ليس عددًا.', field_not_whole: 'هذا ليس عددًا صحيحًا.', field_min: 'على الأقل {n}.', field_max: 'على الأكثر {n}.', field_above: 'أكثر من {n}.', field_below: 'أقل من {n}.', field_multiple_of: 'من مضاعفات {n}.', field_min_length: '{n} محارف على الأقل.', field_max_length: '{n} محارف على الأكثر.', field_format: 'ليس هذا بالصيغة {n}.', field_not_json: 'هذا ليس JSON سليمًا.', field_min_items: '{n} عناصر على الأقل.', field_max_items: '{n} عناصر على الأكثر.', field_not_unique: 'عنصران متماثلان.',
  result: 'النتيجة', answered: 'تم الجواب', answered_error: 'تُبلغ الأداة عن خطأ', truncated: 'النص مقطوع', no_content: 'جواب فارغ.', structured: 'محتوى منظَّم', save_result: 'حفظ بصيغة JSON', resource: 'مورد', resource_link: 'رابط', as_text: 'نصًا', play: 'تشغيل', stop: 'إيقاف', media_image: 'صورة ({type})', media_audio: 'صوت ({type})', media_file: 'ملف ({type})', media_unreadable: 'لا يمكن عرضه', kilobytes: '{n} كيلوبايت',

  search_activity: 'البحث في النشاط', activity_all: 'كل شيء', activity_call: 'الاستدعاءات', activity_connection: 'الاتصالات', activity_failed: 'الإخفاقات', no_activity: 'تظهر الاستدعاءات والاتصالات هنا حين تحدث.', column_time: 'الوقت', column_what: 'ماذا', column_outcome: 'النتيجة', column_took: 'استغرق', connection_to: 'الاتصال بـ {name}', outcome_ok: 'تم', outcome_running: 'جارٍ', outcome_tool_error: 'خطأ من الأداة', outcome_error: 'أخفق', outcome_cancelled: 'أُلغي', error_code: 'رمز الخطأ', message: 'الرسالة', phase_waiting: 'انتظار', phase_server: 'الخادم', phase_connect: 'الاتصال', phase_list: 'سرد الأدوات',

  export_title: 'تصدير الإعدادات', export_for: 'الصيغة', export_mcpServers: 'mcp.json ‏(Claude وCursor وWindsurf وغيرها)', export_vscode: 'VS Code', export_secrets: 'تُترك قيم الترويسات، وتقف مكانها علامات.',

  catalogue_title: 'الفهرس', search_catalogue: 'البحث في الفهرس', catalogue_from: 'من {host}', loading: 'يُحمَّل…', more: 'المزيد', catalogue_none: 'لا خادم بعنوان بعيد يطابق.', catalogue_offline: 'تعذّر الوصول إلى الفهرس.', catalogue_http: 'أجاب الفهرس بالحالة {n}.', catalogue_shape: 'ليس هذا فهرسًا تستطيع Portolan قراءته.', catalogue_url: 'لا يمكن استخدام عنوان الفهرس.', catalogue_text: 'ما زالت الإضافة بالعنوان ممكنة.', catalogue_found: 'الخوادم: {n}', choose_entry: 'اختيار', choose_entry_of: 'اختيار {name}', deprecated: 'مهجور', back: 'رجوع', website: 'الموقع',
}

export default ar
